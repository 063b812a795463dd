"""`/editor/tokens`: what the author sees of tokens, and does about them."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from tests.indieauth.app import bearer, text_of
from vernier.authors.models import AccessToken, Author, find_token, issue_token

TOKENS = "/editor/tokens"


def test_tokens__are_for_who_is_signed_in(client, db):
    for response in (client.get(TOKENS), client.post(TOKENS, {"action": "issue", "name": "x", "scope": "create"})):
        assert (response.status_code, response["Location"]) == (302, f"/login?next={TOKENS}")
    assert not AccessToken.objects.exists()


def test_tokens__are_listed_with_app_scopes_and_last_use(app):
    answer = app.sign_in(scope="create media")
    assert "never" in text_of(app.browser.get(TOKENS))
    app.server.get("/indieauth/token", headers=bearer(answer["access_token"]))
    page = text_of(app.browser.get(TOKENS))
    for shown in ("https://app.example/", "create media", f"{timezone.now():%Y-%m-%d}"):
        assert shown in page
    assert "never" not in page
    assert answer["access_token"] not in page


def test_tokens__of_others_and_ended_ones_are_not_listed(browser, author):
    issue_token(Author.objects.create_user("bob"), scope="create", name="Bob's")
    issue_token(author, scope="create", name="Expired", expires_at=timezone.now())
    assert "No app has access" in text_of(browser.get(TOKENS))


def test_tokens__are_revoked_with_a_button_and_so_is_what_refreshes_them(app):
    answer = app.sign_in()
    number = AccessToken.objects.get().pk
    page = app.browser.post(TOKENS, {"action": "revoke", "token": number}, follow=True)
    assert "has no access any more" in text_of(page)
    assert find_token(answer["access_token"]) is None
    assert app.refresh(answer["refresh_token"]).json()["error"] == "invalid_grant"


@pytest.mark.parametrize("number", ["", "x", "-1", "9" * 30, "\N{ARABIC-INDIC DIGIT ONE}"])
def test_tokens__that_do_not_exist_cannot_be_revoked(browser, number):
    page = browser.post(TOKENS, {"action": "revoke", "token": number}, follow=True)
    assert "ended already" in text_of(page)


def test_tokens__of_others_cannot_be_revoked(browser):
    secret = issue_token(Author.objects.create_user("bob"), scope="create")
    browser.post(TOKENS, {"action": "revoke", "token": AccessToken.objects.get().pk})
    assert find_token(secret) is not None


def test_tokens__are_made_by_hand_and_shown_once(browser, author):
    page = browser.post(TOKENS, {"action": "issue", "name": "My <script>", "scope": ["create", "update"]})
    secret = re.search(r"<code>(vernier_[\w-]+)</code>", page.content.decode())[1]
    token = find_token(secret)
    assert (token.author, token.name, token.scope) == (author, "My <script>", "create update")
    assert "no-store" in page["Cache-Control"]
    assert "My <script>" not in page.content.decode()
    assert secret not in text_of(browser.get(TOKENS))


@pytest.mark.parametrize(
    "form",
    [
        {"name": "", "scope": "create"},
        {"name": "x"},
        {"name": "x", "scope": "admin"},
        {"name": "x", "scope": "email"},
    ],
)
def test_tokens__are_not_made_without_a_name_and_a_scope(browser, form):
    page = browser.post(TOKENS, {"action": "issue", **form})
    assert page.status_code == 400
    assert 'role="alert"' in text_of(page)
    assert not AccessToken.objects.exists()


def test_tokens__are_not_changed_without_the_csrf_token(author):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(author)
    assert browser.post(TOKENS, {"action": "issue", "name": "x", "scope": "create"}).status_code == 403
