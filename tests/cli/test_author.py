"""How authors come to a site, and in: from the command line to a browser."""

import re

import httpx
import pytest

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("processes")]

LINK = re.compile(r"http\S+/sign-in/\S+")
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


def press(link, **given):
    """Open a link as a browser does and submit its form; return the browser and the answer."""
    browser = httpx.Client(timeout=10)
    token = TOKEN.search(browser.get(link).text)[1]
    data = {"csrfmiddlewaretoken": token, **given}
    return browser, browser.post(
        link, data=data, headers={"Origin": str(httpx.URL(link).copy_with(path="")).rstrip("/")}
    )


def test_author__new_one_signs_in_by_the_printed_link(site):
    server = site.start()
    link = LINK.search(site.run("author", "create", "bob").stdout)[0]
    assert link.startswith(f"{server.url}/sign-in/")
    browser, answer = press(link)
    assert answer.headers["location"] == "/account/password"
    assert "bob" in browser.get(f"{server.url}/account").text
    assert httpx.get(link).status_code == 410


def test_author__link_has_the_address_that_readers_use(site):
    done = site.run("author", "link", "alice", BASE_URL="https://example.org")
    assert done.returncode == 0
    assert LINK.search(done.stdout)[0].startswith("https://example.org/sign-in/")


def test_author__link_for_nobody(site):
    done = site.run("author", "link", "bob")
    assert done.returncode == 1
    assert "There is no author 'bob'; make one with: vernier author create bob" in done.stderr


def test_author__list_says_who_operates_the_site(site):
    site.run("author", "create", "bob", "--email", "bob@example.org")
    assert site.run("author", "list").stdout == "alice\t-\toperator\nbob\tbob@example.org\n"


def test_serve__without_authors_prints_the_way_in(new_site):
    server = new_site.start()
    link = LINK.search(server.process.stdout.readline())[0]
    browser, answer = press(link, username="ann", password="correct horse battery")
    assert answer.headers["location"] == "/editor/"
    assert browser.get(f"{server.url}/admin/").status_code == 200
    assert new_site.run("author", "list").stdout == "ann\t-\toperator\n"


def test_serve__prints_a_new_way_in_at_each_start_until_somebody_has_come_in(new_site):
    links = []
    for _ in range(2):
        server = new_site.start(BASE_URL="https://example.org")
        links.append(LINK.search(server.process.stdout.readline())[0])
        path = httpx.URL(links[0]).path
        status = httpx.get(server.url + path).status_code
        server.end()
    assert links[0] != links[1]
    assert links[1].startswith("https://example.org/sign-in/")
    assert status == 404


def test_serve__with_an_author_prints_no_way_in(site):
    server = site.start()
    server.end()
    assert server.process.stdout.read() == ""
