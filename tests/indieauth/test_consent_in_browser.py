"""A whole sign-in in a real browser: the Content-Security-Policy lets the author out, and nothing else."""

from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from django.test import Client
from playwright.sync_api import sync_playwright

from tests.indieauth.app import App, bearer
from tests.net.server import Server, answer
from vernier import pages

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
MAPPED = "--host-resolver-rules=MAP *.test 127.0.0.1"
HTML = "Content-Type: text/html"

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="There is no Chromium.")


@pytest.fixture
def site(live_server, settings):
    settings.STATIC_ROOT = Path(pages.__file__).parent / "static"
    settings.VERNIER_MEDIA_API = {**settings.VERNIER_MEDIA_API, "BASE_URL": live_server.url}
    return live_server.url


@pytest.fixture
def other_server():
    server = Server()
    server.answers["/home"] = answer(200, HTML, body=b"<title>Signed in</title>")
    yield server
    server.close()


@pytest.fixture
def cookie(transactional_db, author, site):
    """The session of the author, made before the browser is started: its event loop forbids the database."""
    browser = Client()
    browser.force_login(author)
    return {"name": "sessionid", "value": browser.cookies["sessionid"].value, "url": site}


@pytest.fixture
def tab(cookie):
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(CHROMIUM), args=[*ARGUMENTS, MAPPED])
        context = chromium.new_context()
        context.add_cookies([cookie])
        tab = context.new_page()
        tab.complaints = []
        tab.on("console", lambda message: tab.complaints.append(message.text) if "Policy" in message.text else None)
        yield tab
        chromium.close()


@pytest.fixture
def shown_app(app_server, other_server):
    """An app that sends the author on to another host after its callback, as sign-in services do."""
    onward = answer(302, f"Location: {other_server.url('/home', host='home.test')}")
    app_server.answers["/"] = answer(200, HTML, body=b'<a class="h-app" href="/">Quill</a>')
    own = app_server.url("/", host="app.test")

    class Answers(dict):
        def get(self, path, default=None):
            return onward if path.startswith("/callback") else super().get(path, default)

    app_server.answers = Answers(app_server.answers)
    return App(None, None, client_id=own, redirect_uri=own + "callback")


def test_ia_17__the_browser_follows_the_redirect_and_the_next_one(tab, site, shown_app, app_server):
    tab.goto(site + shown_app.url(scope="create media"))
    assert tab.text_content("h1").strip() == "Quill asks to act for you"
    tab.uncheck("input[value=media]")
    tab.click("text=Approve")
    tab.wait_for_url("**/home")
    assert (tab.title(), tab.complaints) == ("Signed in", [])
    callback = httpx.URL("http://app.test" + app_server.requests[-1][1])
    redemption = shown_app.redemption(callback.params["code"])
    token = httpx.post(site + "/indieauth/token", data=redemption).json()
    assert (token["scope"], callback.params["state"]) == ("create", "a state & more")
    verified = httpx.get(site + "/indieauth/token", headers=bearer(token["access_token"]))
    assert verified.json()["me"] == f"{site}/"


def test_ia_18__the_browser_carries_the_denial(tab, site, shown_app, app_server):
    tab.goto(site + shown_app.url())
    tab.click("text=Deny")
    tab.wait_for_url("**/home")
    assert "error=access_denied" in app_server.requests[-1][1]


def test_pages__are_accessible(tab, site, shown_app):
    for path in (
        shown_app.url(scope="create unknown"),
        shown_app.url(redirect_uri="https://x.example/"),
        "/editor/tokens",
    ):
        tab.goto(site + path)
        found = Axe().run(tab)
        assert found.violations_count == 0, found.generate_report()


def test_i4__a_script_of_another_site_redeems_a_code(tab, site, other_server):
    """A preflight for the header, and an answer that the script may read."""
    tab.goto(other_server.url("/home", host="home.test"))
    script = """async (url) => {
        const answer = await fetch(url, {headers: {Authorization: "Bearer unknown"}});
        return [answer.status, (await answer.json()).error];
    }"""
    assert tab.evaluate(script, f"{site}/indieauth/token") == [401, "invalid_token"]
