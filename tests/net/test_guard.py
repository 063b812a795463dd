"""Where a fetch does not go, whatever a URL or a name server says."""

import pytest

from tests.net.server import answer
from vernier.net import fetch as fetch_module
from vernier.net.fetch import FetchFailed, FetchRefused, fetch

LITERALS = ["127.0.0.1", "10.1.2.3", "[::1]", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "0.0.0.0", "100.64.1.1"]


def never(host):
    raise AssertionError(f"{host} was looked up.")


@pytest.mark.parametrize("host", LITERALS)
def test_fetch__address_that_is_not_public(host):
    with pytest.raises(FetchRefused, match="not public"):
        fetch(f"http://{host}/", resolver=never)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "db.localhost"])
def test_fetch__name_of_this_machine(host):
    with pytest.raises(FetchRefused, match="means this machine"):
        fetch(f"http://{host}/", resolver=never)


@pytest.mark.parametrize("address", ["127.0.0.1", "fd00::1", "fe80::1%eth0", "2002:7f00:1::"])
def test_fetch__name_with_one_address_that_is_not_public(address):
    with pytest.raises(FetchRefused, match="not public"):
        fetch("http://mixed.example/", resolver=lambda host: ["8.8.8.8", address])


def test_fetch__real_resolver(settings):
    settings.VERNIER_NET = {"PORTS": (1,), "PRIVATE_HOSTS": ("localhost",)}
    with pytest.raises(FetchFailed, match="No connection to .*127.0.0.1"):
        fetch("http://localhost:1/")


def test_private_hosts__hold_for_the_host_of_the_url_alone(server, here):
    assert fetch(server.url(host="ONE.test"), resolver=here).body == b"hello"
    for host in ("below.one.test", "three.test"):
        with pytest.raises(FetchRefused, match="not public"):
            fetch(server.url(host=host), resolver=here)
    assert len(server.requests) == 1


def test_fetch__name_is_looked_up_in_ascii(server, settings):
    settings.VERNIER_NET |= {"PRIVATE_HOSTS": ("xn--bcher-kva.test",)}
    asked = []
    fetch(server.url(host="bücher.test"), resolver=lambda host: asked.append(host) or ["127.0.0.1"])
    assert asked == ["xn--bcher-kva.test"]
    assert server.requests[0][2]["Host"] == f"xn--bcher-kva.test:{server.port}"


@pytest.fixture
def rebinding(start_server, monkeypatch):
    """A name whose first address passes for public and whose later ones do not; a server at each."""
    monkeypatch.setattr(fetch_module, "is_public", lambda address: str(address) == "127.0.0.1")
    public = start_server()
    private = start_server(host="127.0.0.2", port=public.port)
    answers = iter([["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2"]])
    return public, private, lambda host: next(answers)


def test_rebinding__connects_to_the_address_that_was_checked(rebinding):
    public, private, resolver = rebinding
    assert fetch(public.url(host="rebind.test"), resolver=resolver).status == 200
    assert (len(public.requests), private.requests) == (1, [])


def test_rebinding__is_checked_again_at_a_redirect(rebinding):
    public, private, resolver = rebinding
    public.answers["/"] = answer(302, "Location: /again")
    with pytest.raises(FetchRefused, match="127.0.0.2 .* not public"):
        fetch(public.url(host="rebind.test"), resolver=resolver)
    assert private.requests == []


def test_fetch__second_address_is_tried(server):
    resolver = lambda host: ["127.0.0.3", "127.0.0.1"]  # noqa: E731 - nothing listens on the first
    assert fetch(server.url(host="one.test"), resolver=resolver).body == b"hello"


def test_tls__certificate_that_nobody_signed(tls_server, here):
    with pytest.raises(FetchFailed, match="certificate of tls.test is not valid"):
        fetch(tls_server.url(host="tls.test", scheme="https"), resolver=here)
    assert tls_server.requests == []


def test_tls__is_for_the_name_and_not_for_the_address(tls_server, here, certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", certificate.file)
    assert fetch(tls_server.url(host="tls.test", scheme="https"), resolver=here).body == b"hello"
    assert tls_server.names == ["tls.test"]


@pytest.mark.parametrize("host", ["one.test", "127.0.0.1"])
def test_tls__certificate_of_another_name(tls_server, here, certificate, monkeypatch, host):
    monkeypatch.setenv("SSL_CERT_FILE", certificate.file)
    with pytest.raises(FetchFailed, match="certificate of .* is not valid"):
        fetch(tls_server.url(host=host, scheme="https"), resolver=here)
