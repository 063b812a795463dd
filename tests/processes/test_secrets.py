"""What a log must not tell, however much of it the operator asks for."""

import re

import pytest

from tests.cli.test_author import LINK, TOKEN, press
from tests.processes.server import Server, running

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("processes")]


def test_log__has_no_secret_in_it(tmp_path):
    server = Server(tmp_path / "data", log_level="DEBUG")
    link = LINK.search(server.command("author", "create", "alice"))[0]
    with running(server):
        browser, _ = press(link)
        tokens = f"{server.url}/editor/tokens"
        form = {"csrfmiddlewaretoken": TOKEN.search(browser.get(tokens).text)[1], "name": "x", "scope": "create"}
        page = browser.post(tokens, data=form, headers={"Origin": server.url}).text
        secret = re.search(r"vernier_[\w-]{43}", page)[0]
    log = server.log.read_text()
    assert "Finished server process" in log
    assert [text for text in (secret, link.rpartition("/")[2]) if text in log] == []
