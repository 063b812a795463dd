"""What is known of a client, and whether it is asked for: IndieAuth section 4.2."""

import json

import pytest
from django.utils import timezone

from tests.indieauth.app import answer_of, text_of
from tests.net.server import answer
from vernier.indieauth import clients
from vernier.indieauth.client_page import read_client_page
from vernier.indieauth.clients import client_information, may_redirect
from vernier.indieauth.models import ClientInformation

ELSEWHERE = "https://elsewhere.example/callback"
HTML = "Content-Type: text/html; charset=utf-8"


def publish(server, document=None, *, html=None, headers=()):
    """Put a document or a page at the client_id."""
    if html is None:
        server.answers["/"] = answer(
            200, "Content-Type: application/json", *headers, body=json.dumps(document).encode()
        )
    else:
        server.answers["/"] = answer(200, HTML, *headers, body=html.encode())


def described(app):
    return client_information(app.client_id, now=timezone.now())


def test_ia_08__a_json_document_names_the_app(published_app, app_server):
    document = {"client_id": published_app.client_id, "client_name": "Quill", "logo_uri": "/logo.png"}
    publish(app_server, document | {"client_uri": published_app.client_id, "redirect_uris": ["/cb", ELSEWHERE]})
    client = described(published_app)
    assert (client.name, client.logo_url) == ("Quill", published_app.client_id + "logo.png")
    assert client.redirect_uris == [published_app.client_id + "cb", ELSEWHERE]
    assert (client.client_uri, client.failure) == (published_app.client_id, "")


@pytest.mark.parametrize(
    "changes",
    [{"client_id": "https://other.example/"}, {"client_id": None}, {"client_uri": "https://other.example/"}],
)
def test_ia_08__a_json_document_about_another_client_is_not_believed(published_app, app_server, changes):
    document = {"client_id": published_app.client_id, "client_name": "Quill", "redirect_uris": [ELSEWHERE]}
    publish(app_server, document | changes)
    client = described(published_app)
    assert (client.name, client.redirect_uris) == ("", [])
    assert "client_" in client.failure


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"client_id": 1}'])
def test_ia_08__a_json_document_that_is_none_is_a_failure_and_no_error(published_app, app_server, body):
    app_server.answers["/"] = answer(200, "Content-Type: application/json", body=body)
    assert described(published_app).failure


def test_ia_08__strange_values_in_a_json_document_count_as_absent(published_app, app_server):
    document = {"client_id": published_app.client_id, "client_name": "A\ud800\x00\n B", "logo_uri": "javascript:x"}
    publish(app_server, document | {"redirect_uris": [1, None, "javascript:x", "https://[", "ok://cb"]})
    client = described(published_app)
    assert (client.name, client.logo_url, client.redirect_uris) == ("A B", "", ["ok://cb"])


def test_ia_08__an_h_app_names_the_app(published_app, app_server):
    html = (
        '<div class="h-x-app h-app"><img class="u-logo" src="/logo.png">'
        '<a class="u-url p-name" href="/">Qu<b>ill</b></a>'
        "<p>Posts things.</div><div class='h-app'><a class='p-name'>Another</a></div>"
    )
    publish(app_server, html=html)
    client = described(published_app)
    assert (client.name, client.logo_url) == ("Quill", published_app.client_id + "logo.png")
    assert client.client_uri == published_app.client_id


@pytest.mark.parametrize(
    ("html", "name"),
    [
        ('<a class="h-app" href="/">  Quill\n two </a>', "Quill two"),
        ('<div class="h-app"><p class="p-name">One<p>Two</div>', "OneTwo"),
        ('<span class="h-app"><img class="p-name" alt="Pictured"></span>', "Pictured"),
        ('<span class="p-name">Outside</span>', ""),
        ("<title>Only a title</title>", ""),
        ("</div></p><div class=h-app><br>&lt;b&gt;</div>", "<b>"),
    ],
)
def test_ia_08__names_of_h_apps(html, name):
    assert read_client_page(html, link_headers=(), base="https://app.example/").name == name


@pytest.mark.parametrize("rest", ["<![x", "<![CDATA[", "<a ", "<a b='", "<!--", "<?", "</", "<div>", "<textarea></"])
def test_ia_08__a_page_made_to_keep_a_parser_busy_is_read_like_any_other(rest):
    # Where the time grows with the square of the length, some of these take hours.
    html = '<p class="h-app">Quill</p>' + rest * (clients.FETCH_LIMITS.bytes_max // len(rest))
    assert read_client_page(html, link_headers=(), base="https://app.example/").name == "Quill"


def test_ia_08__redirect_links_of_a_page_and_of_its_headers(published_app, app_server):
    html = '<base href="/app/"><link rel="redirect_uri" href="cb"><link rel="me" href="x">'
    links = [f'Link: <{ELSEWHERE}>; rel="redirect_uri", </x>; rel=icon', "Link: </h>; rel=redirect_uri"]
    publish(app_server, html=html + '<a rel="x REDIRECT_URI" href="ios.app:/cb">', headers=links)
    own = published_app.client_id
    assert described(published_app).redirect_uris == [ELSEWHERE, own + "h", own + "app/cb", "ios.app:/cb"]


@pytest.mark.parametrize("client_id", ["http://127.0.0.1:{}/", "http://[::1]:{}/", "http://localhost:{}/"])
def test_ia_09__a_loopback_client_is_never_fetched(db, settings, app_server, client_id):
    settings.VERNIER_NET |= {"PRIVATE_HOSTS": ("127.0.0.1", "localhost", "::1")}
    client = client_information(client_id.format(app_server.port), now=timezone.now())
    assert (client.failure, app_server.requests) == ("", [])


def test_ia_09__a_name_that_means_a_private_address_is_not_fetched(published_app, app_server, settings):
    settings.VERNIER_NET |= {"PRIVATE_HOSTS": ()}
    client = described(published_app)
    assert "not public" in client.failure
    assert app_server.requests == []


def test_ia_09__a_redirect_to_this_machine_is_not_followed(published_app, app_server):
    app_server.answers["/"] = answer(302, f"Location: http://127.0.0.1:{app_server.port}/secret")
    assert "not public" in described(published_app).failure
    assert [path for _, path, _, _ in app_server.requests] == ["/"]


def test_ia_09__a_page_that_is_too_large_is_not_read(published_app, app_server):
    publish(app_server, html="<p class=h-app>x" + "x" * clients.FETCH_LIMITS.bytes_max)
    assert "larger" in described(published_app).failure


def test_ia_09__what_is_known_is_kept_for_minutes(published_app, app_server):
    publish(app_server, html="<p class=h-app>Quill")
    now = timezone.now()
    for later in (now, now + clients.KNOWN_LIFE / 2, now + clients.KNOWN_LIFE):
        assert client_information(published_app.client_id, now=later).name == "Quill"
    assert len(app_server.requests) == 2


def test_ia_09__no_more_clients_are_kept_than_anybody_uses(db, monkeypatch):
    monkeypatch.setattr(clients, "CLIENTS_MAX", 3)
    for number in range(5):
        client_information(f"https://app{number}.example/", now=timezone.now())
    kept = ClientInformation.objects.order_by("client_id").values_list("client_id", flat=True)
    assert list(kept) == [f"https://app{number}.example/" for number in (2, 3, 4)]


def test_ia_09__the_page_warns_of_an_app_that_cannot_be_fetched(app):
    page = text_of(app.ask())
    assert "Nothing is known about this app except its address: The name app.example was not found" in page
    assert "<code>https://app.example/</code>" in page


def test_ia_09__the_page_warns_of_a_home_on_another_host(published_app, app_server):
    publish(app_server, html='<div class=h-app><a class="u-url p-name" href="https://quill.example/">Quill</a>')
    assert "The app names https://quill.example/ as its home" in text_of(published_app.ask())


def test_ia_09__nothing_is_fetched_for_somebody_who_is_not_signed_in(client, app, looked_up):
    assert client.get(app.url()).status_code == 302
    assert looked_up == []


@pytest.mark.parametrize(
    ("client_id", "redirect_uri", "is_allowed"),
    [
        ("https://app.example/x", "https://app.example/y?z", True),
        ("https://app.example/", "https://APP.example:443/", True),
        ("https://app.example/", "http://app.example/", False),
        ("https://app.example/", "https://app.example:8443/", False),
        ("https://app.example/", "https://app.example.evil.example/", False),
        ("https://app.example/", "https://www.app.example/", False),
        ("https://app.example/", ELSEWHERE, True),
        ("https://app.example/", ELSEWHERE + "/more", False),
        ("https://app.example/", ELSEWHERE + "?more", False),
        ("https://app.example/", ELSEWHERE + "?", False),
        ("https://app.example/", "com.example.app:/cb", True),
        ("https://app.example/", "com.example.app:/cb2", False),
        ("http://127.0.0.1/", "http://127.0.0.1:49152/cb", True),
        ("http://localhost:1/", "http://[::1]:2/cb", True),
        ("http://localhost/", "https://app.example/", False),
        ("https://app.example/", "http://127.0.0.1/", False),
    ],
)
def test_ia_11__a_redirect_goes_to_the_client_or_exactly_to_what_it_publishes(client_id, redirect_uri, is_allowed):
    published = [] if "localhost" in client_id else [ELSEWHERE, "com.example.app:/cb"]
    client = ClientInformation(client_id=client_id, redirect_uris=published)
    assert may_redirect(client, redirect_uri) is is_allowed


def test_i1__a_redirect_to_another_host_that_the_app_publishes_is_followed(published_app, app_server):
    publish(app_server, {"client_id": published_app.client_id, "redirect_uris": [ELSEWHERE]})
    page = published_app.ask(redirect_uri=ELSEWHERE)
    assert ELSEWHERE in text_of(page)
    assert "does not go to the address of the app itself" in text_of(page)
    assert published_app.decide(page, "approve")["Location"].startswith(f"{ELSEWHERE}?code=")


def test_i1__a_redirect_to_another_host_is_refused_readably(published_app, app_server):
    publish(app_server, html="<p class=h-app>Quill")
    page = published_app.ask(redirect_uri=ELSEWHERE)
    assert (page.status_code, "Location" in page) == (400, False)
    assert f"asks to be answered at {ELSEWHERE}" in text_of(page)
    assert published_app.client_id in text_of(page)


def test_i1__an_app_on_a_phone_is_sent_to_its_own_scheme(published_app, app_server):
    publish(app_server, html='<link rel="redirect_uri" href="com.example.app:/cb?x=y">')
    page = published_app.ask(redirect_uri="com.example.app:/cb?x=y")
    response = published_app.decide(page, "approve")
    assert response["Location"].startswith("com.example.app:/cb?x=y&code=")


def test_i2__a_command_line_client_signs_in_without_being_fetched(app, looked_up):
    app.client_id, app.redirect_uri = "http://127.0.0.1:8080/", "http://127.0.0.1:49152/callback"
    page = app.ask()
    assert "runs on your own computer" in text_of(page)
    code = answer_of(app.decide(page, "approve"))["code"]
    assert app.redeem(code).json()["token_type"] == "Bearer"
    assert looked_up == []
