"""`/editor/self-check`: an author finds out whether access tokens arrive."""

import pytest
from django.contrib.staticfiles.finders import find

from tests.micropub.client import Micropub
from vernier.authors.models import Author

pytestmark = pytest.mark.django_db
PATH = "/editor/self-check"


@pytest.fixture
def browser(client, author):
    client.force_login(author)
    return client


def test_self_check__is_for_authors(client):
    answer = client.get(PATH)
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/login")


def test_self_check__shows_what_the_server_saw(browser):
    page = browser.get(PATH, headers={"X-Forwarded-For": "192.0.2.7", "Via": "1.1 <proxy>"}).content.decode()
    assert "192.0.2.7" in page
    assert "1.1 &lt;proxy&gt;" in page
    assert "A server in front of this one has passed the request on" in page
    assert "A server in front" not in browser.get(PATH).content.decode().partition("</table>")[2]


def test_self_check__is_found_where_an_author_looks_for_apps(browser):
    assert f'href="{PATH}"' in browser.get("/editor/tokens").text


def test_self_check__works_without_a_script(browser):
    page = browser.get(PATH).content.decode()
    assert 'curl -H "Authorization: Bearer self-check" "http://127.0.0.1:8000/micropub?q=config"' in page
    for word in (
        "invalid_token",
        "unauthorized",
        "proxy_set_header Authorization",
        "RequestHeader set Authorization",
    ):
        assert word in page


def test_self_check__tells_by_the_answers_of_the_endpoint(author):
    """The script and the command compare these two."""
    assert Micropub("self-check").query("config").json()["error"] == "invalid_token"
    assert Micropub("").query("config").json()["error"] == "unauthorized"


def test_self_check__has_its_script_and_nothing_inline(browser):
    page = browser.get(PATH)
    assert find("vernier/self-check.js")
    assert '<script src="/static/vernier/self-check.js" defer></script>' in page.content.decode()
    assert page.content.decode().count("<script") == 1
    assert " style=" not in page.content.decode()
    assert page.headers["Content-Security-Policy"]


def test_self_check__can_only_be_read(browser):
    assert browser.post(PATH).status_code == 405
    assert Author.objects.count() == 1
