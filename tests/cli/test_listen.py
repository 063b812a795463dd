import pytest

from vernier.cli.arguments import Bind
from vernier.cli.listen import listen
from vernier.site.exceptions import VernierError


@pytest.mark.parametrize("host", ["a" * 300, "ex..ample", "\udcff", ".example"])
def test_listen__name_that_no_host_has_is_one_sentence(host):
    with pytest.raises(VernierError, match="is no name of a host"):
        listen(Bind(host=host, port=0))


def test_listen__address_in_use_is_one_sentence():
    with listen(Bind(host="127.0.0.1", port=0)) as opened:
        port = opened.getsockname()[1]
        with pytest.raises(VernierError, match=f"127.0.0.1:{port} is in use"):
            listen(Bind(host="127.0.0.1", port=port))
