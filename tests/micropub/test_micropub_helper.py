"""A real client end to end: micropub-helper (npm) against `vernier serve`."""

import json
import os
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.processes.server import Server, running

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("processes")]
CLIENT = Path(__file__).parents[1] / "clients" / "micropub-helper"


@pytest.fixture
def run():
    if not shutil.which("node"):
        pytest.skip("There is no Node to run micropub-helper with.")
    if not (CLIENT / "node_modules").is_dir():
        pytest.skip("micropub-helper is not installed: run scripts/test-tools.sh.")

    def run(*arguments, **environment):
        command = ["node", "run.js", *arguments]
        done = subprocess.run(
            command,
            cwd=CLIENT,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


class Browser:
    """The author's: it reads pages and presses the buttons of their forms."""

    def __init__(self, page):
        self.http = httpx.Client(timeout=30)
        self.page = self.http.get(page)

    def press(self, **more):
        """Send the last form of the page as it is, with the button, and go on to the next page of the site."""
        form = re.findall(r"<form.*?</form>", self.page.text, re.DOTALL)[-1]
        action = re.search(r'<form[^>]* action="([^"]*)"', form)
        fields = {}
        for tag in re.findall(r"<input[^>]*>", form):
            given = dict(re.findall(r'(\w+)="([^"]*)"', tag))
            if "name" in given:
                fields.setdefault(given["name"], []).append(unescape(given.get("value", "")))
        url = self.page.url.join(unescape(action[1])) if action else self.page.url
        self.page = self.http.post(url, data={**fields, **more})


def test_micropub_helper__signs_in_with_indieauth(tmp_path, run):
    with running(Server(tmp_path / "data")) as server:
        browser = Browser(re.search(r"http\S+/sign-in/\S+", server.command("author", "create", "alice"))[0])
        browser.press()
        browser.page = browser.http.get(run("auth-url", VERNIER_URL=server.url))
        browser.press(decision="approve")
        returned = urlsplit(browser.page.headers["Location"])
        assert f"{returned.scheme}://{returned.netloc}{returned.path}" == "http://127.0.0.1/callback"
        done = run(VERNIER_URL=server.url, CODE=parse_qs(returned.query)["code"][0])
        assert "Updated" in httpx.get(done["url"]).text


def test_micropub_helper__creates_updates_deletes_and_undeletes(tmp_path, run):
    with running(Server(tmp_path / "data")) as server:
        done = run(VERNIER_URL=server.url, TOKEN=server.token("create update delete undelete"))
        assert "Updated" in httpx.get(done["url"]).text
        assert "By a form" in httpx.get(done["byForm"]).text
    assert done["verified"] is True
    assert done["config"]["media-endpoint"] == f"{server.url}/media"
    assert done["source"] == {"properties": {"content": ["Updated"], "category": ["test", "more"]}}
    assert "deleted" in done["whileDeleted"]["properties"]
    assert done["refused"] == 400
