"""The consent page, and what the author's answer becomes: IndieAuth section 5.2."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core import signing
from django.test import Client

from tests.indieauth.app import AUTHORIZE, App, answer_of, consent_of, form_action, text_of, ticked
from vernier.authors.models import SCOPES, Author
from vernier.indieauth.models import AuthorizationCode
from vernier.indieauth.scopes import SENTENCES


@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
@pytest.mark.parametrize(
    "value", [None, "", "nonsense", "javascript:alert(1)", "https://app.example/#x", "https://["]
)
def test_ia_10__without_a_proper_client_and_redirect_there_is_a_page_and_no_redirect(app, name, value):
    page = app.ask(**{name: value})
    assert (page.status_code, "Location" in page) == (400, False)
    assert name in text_of(page)


@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
def test_ia_10__a_client_or_redirect_that_is_there_twice_is_ambiguous(app, name):
    page = app.ask(**{name: [app.request()[name], "https://evil.example/"]})
    assert (page.status_code, "Location" in page) == (400, False)


def test_ia_10__the_page_of_a_refusal_shows_what_was_sent_as_text(app):
    page = app.ask(redirect_uri="https://evil.example/<script>alert(1)</script>")
    assert page.status_code == 400
    assert "<script>alert" not in page.content.decode()


@pytest.mark.parametrize(
    ("response_type", "error"), [(None, "invalid_request"), ("token", "unsupported_response_type")]
)
def test_ia_10__another_response_type_than_code_is_told_to_the_client(app, response_type, error):
    answer = answer_of(app.ask(response_type=response_type))
    assert (answer["error"], answer["state"], answer["iss"]) == (error, "a state & more", "https://ann.example/")


def test_ia_10__nobody_is_redirected_to_the_client_who_is_not_signed_in(client, app):
    """A link to the site would else lead anywhere."""
    response = client.get(app.url(response_type="token"))
    assert response["Location"].startswith("/login?next=")


def test_ia_11__another_host_than_the_clients_is_refused(app):
    page = app.ask(redirect_uri="https://elsewhere.example/callback")
    assert (page.status_code, "Location" in page) == (400, False)
    assert "https://elsewhere.example/callback" in text_of(page)


@pytest.mark.parametrize("state", ["x", "ä ß+%20&=#", "a" * 500, "'\"<>", ""])
def test_ia_12__state_comes_back_as_it_was(app, state):
    assert answer_of(app.decide(app.ask(state=state), "approve"))["state"] == state
    assert answer_of(app.decide(app.ask(state=state), "deny"))["state"] == state


def test_ia_12__an_older_client_without_state_gets_none(app):
    assert "state" not in answer_of(app.decide(app.ask(state=None), "approve"))


@pytest.mark.parametrize(
    ("challenge", "method"),
    [
        ("x" * 43, "plain"),
        ("x" * 43, None),
        ("x" * 42, "S256"),
        ("x" * 129, "S256"),
        ("x" * 42 + "=", "S256"),
        (None, "S256"),
        ("", "S256"),
    ],
)
def test_ia_13__a_challenge_that_is_not_s256_is_refused(app, challenge, method):
    answer = answer_of(app.ask(code_challenge=challenge, code_challenge_method=method))
    assert (answer["error"], "code" in answer) == ("invalid_request", False)


def test_ia_13__an_older_client_without_a_challenge_is_served(app):
    code = app.code(code_challenge=None, code_challenge_method=None)
    assert app.redeem(code, code_verifier=None).status_code == 200


def test_ia_14__every_scope_is_shown_known_or_not(app):
    page = app.ask(scope="create update channels <b>")
    assert ticked(page) == ["create", "update"]
    assert SENTENCES["create"] in text_of(page)
    assert re.search(r"<code>channels</code>, <code>&lt;b&gt;</code>: this means nothing", page.content.decode())


def test_ia_14__every_scope_has_a_sentence():
    assert set(SENTENCES) == set(SCOPES)


@pytest.mark.parametrize(
    ("asked", "left", "granted"),
    [
        ("create update delete", ["create", "delete"], "create delete"),
        ("create channels", ["create", "channels"], "create"),
        ("create", ["create", "update", "delete"], "create"),
        ("post", ["create"], "create"),
        ("create create", ["create"], "create"),
        ("create profile email", ["create", "email"], "create"),
        ("profile email", ["profile", "email"], "profile email"),
    ],
)
def test_ia_14__what_the_author_leaves_ticked_is_granted_and_no_more(app, asked, left, granted):
    code = app.code(scope=asked, scopes=left)
    assert app.redeem(code).json()["scope"] == granted


@pytest.mark.parametrize("scope", [None, "", "unknown"])
def test_ia_14__without_a_scope_the_app_only_learns_who_the_author_is(app, scope):
    page = app.ask(scope=scope)
    assert ticked(page) == []
    assert "may do nothing in your name" in text_of(page)


def test_ia_16__the_whole_request_survives_the_sign_in(client, app, author):
    response = client.get(app.url())
    location = urlsplit(response["Location"])
    assert (response.status_code, location.path) == (302, "/login")
    client.force_login(author)
    after = client.get(parse_qs(location.query)["next"][0])
    assert consent_of(after)
    assert answer_of(App(client, client).decide(after, "approve"))["state"] == "a state & more"


def test_ia_16__a_session_that_ends_meanwhile_leads_back_to_the_same_request(app):
    page = app.ask()
    app.browser.logout()
    response = app.decide(page, "approve")
    assert parse_qs(urlsplit(response["Location"]).query)["next"] == [app.url()]
    assert not AuthorizationCode.objects.exists()


def test_ia_16__the_page_names_app_address_redirect_and_author(app, base):
    page = text_of(app.ask())
    for shown in ("https://app.example/", "https://app.example/callback", f"{base}/"):
        assert f"<code>{shown}</code>" in page


def test_ia_16__a_decision_without_the_csrf_token_is_none(app, author):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(author)
    page = browser.get(app.url())
    form = {"consent": consent_of(page), "decision": "approve", "scope": ["create"]}
    assert browser.post(form_action(page), form).status_code == 403
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.content.decode())[1]
    assert browser.post(form_action(page), form | {"csrfmiddlewaretoken": token}).status_code == 302


def test_ia_16__the_page_cannot_be_framed_or_kept(app):
    page = app.ask()
    assert page["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert "no-store" in page["Cache-Control"]


def test_ia_16__only_what_was_shown_can_be_approved(app):
    page = app.ask(scope="create")
    form = {"decision": "approve", "consent": consent_of(page)[:-1] + "x", "redirect_uri": "https://evil.example/"}
    response = app.browser.post(AUTHORIZE, form)
    assert (response.status_code, "Location" in response) == (400, False)
    response = app.browser.post(AUTHORIZE, form | {"consent": consent_of(page), "scope": ["create", "delete"]})
    assert response["Location"].startswith("https://app.example/callback?code=")
    assert AuthorizationCode.objects.get().scope == "create"


def test_ia_16__what_one_author_was_shown_another_cannot_approve(app):
    page = app.ask()
    app.browser.force_login(Author.objects.create_user("bob"))
    assert app.decide(page, "approve").status_code == 400


def test_ia_16__a_page_of_yesterday_cannot_be_approved(app, monkeypatch):
    page = app.ask()
    later = signing.time.time() + 3601
    monkeypatch.setattr(signing.time, "time", lambda: later)
    assert "too old" in text_of(app.decide(page, "approve"))


@pytest.mark.parametrize(
    "form", [{}, {"decision": "approve"}, {"consent": "", "decision": "deny"}, {"consent": "a:b:c"}]
)
def test_ia_16__a_form_that_is_not_ours_is_refused(app, form):
    assert app.browser.post(AUTHORIZE, form).status_code == 400


def test_ia_17__approval_leads_back_with_code_state_and_iss(app):
    response = app.decide(app.ask(redirect_uri="https://app.example/callback?a=1&b=%20"), "approve")
    assert response.status_code == 302
    assert response["Location"].startswith("https://app.example/callback?a=1&b=%20&code=")
    assert set(answer_of(response)) == {"a", "b", "code", "state", "iss"}
    assert answer_of(response)["iss"] == app.server.get("/indieauth/metadata").json()["issuer"]


def test_ia_18__denial_is_told_to_the_client(app):
    answer = answer_of(app.decide(app.ask(), "deny"))
    assert (answer["error"], answer["state"], answer["iss"]) == (
        "access_denied",
        "a state & more",
        "https://ann.example/",
    )
    assert not AuthorizationCode.objects.exists()


@pytest.mark.parametrize("name", ["state", "scope", "response_type", "code_challenge"])
def test_ia_18__a_parameter_that_is_there_twice_is_told_to_the_client(app, name):
    answer = answer_of(app.ask(**{name: [app.request()[name], "x"]}))
    assert answer["error"] == "invalid_request"
    assert name in answer["error_description"]


def test_ia_18__a_request_longer_than_the_sign_in_can_carry_is_refused_at_once(client, app):
    assert client.get(app.url(state="x" * 3000)).status_code == 400


def test_authorize__takes_no_other_method(app):
    assert app.browser.put(AUTHORIZE).status_code == 405
