"""One-time links: opened by anybody, used once."""

import pytest

from tests.authors.pages import PASSWORD, browser, is_signed_in, submit
from vernier.authors.models import Author, SignInLink
from vernier.authors.sign_in_link import invite_first_author, issue_sign_in_link

pytestmark = pytest.mark.django_db


@pytest.fixture
def path(ann, clock):
    return issue_sign_in_link(ann, now=clock.now)


@pytest.fixture
def invitation(db, clock):
    return invite_first_author(now=clock.now)


def test_link__signs_in_once(path):
    client = browser()
    assert submit(client, path)["Location"] == "/account/password"
    assert is_signed_in(client)
    response = browser().get(path)
    assert response.status_code == 410
    assert "vernier author link ann" in response.text


def test_link__opening_it_does_not_use_it_up(client, path):
    for _ in range(3):
        assert client.get(path).status_code == 200
        assert client.head(path).status_code == 200
    assert not is_signed_in(client)
    assert submit(browser(), path).status_code == 302


def test_link__needs_the_token_of_the_form(path):
    client = browser()
    assert client.post(path).status_code == 403
    assert submit(client, path).status_code == 302


def test_link__two_who_press_at_once(path, client, monkeypatch):
    monkeypatch.setattr("vernier.authors.sign_in_link.is_usable", lambda link, now: True)
    monkeypatch.setattr("vernier.authors.views.link.is_usable", lambda link, now: True)
    assert client.post(path).status_code == 302
    assert browser().get(path).status_code == 200
    other = browser()
    assert submit(other, path).status_code == 410
    assert not is_signed_in(other)


def test_link__is_valid_for_a_day(client, path, clock):
    clock.move(hours=23)
    assert client.get(path).status_code == 200
    clock.move(hours=1)
    assert client.get(path).status_code == 410
    assert client.post(path).status_code == 410
    assert not is_signed_in(client)


def test_link__unknown(client, db):
    response = client.get("/sign-in/nonsense")
    assert response.status_code == 404
    assert "vernier author link NAME" in response.text
    assert client.post("/sign-in/%ff%00").status_code == 404


def test_link__of_an_inactive_author(client, path):
    Author.objects.update(is_active=False)
    assert client.post(path).status_code == 410


def test_link__secret_is_neither_stored_nor_sent_elsewhere(client, path):
    assert path.removeprefix("/sign-in/") not in str(SignInLink.objects.values())
    response = client.get(path)
    assert response["Referrer-Policy"] == "same-origin"
    assert "no-store" in response["Cache-Control"]


def test_link__then_a_password_may_be_set_without_the_old_one(path):
    client = browser()
    submit(client, path)
    given = {"new_password1": "a quite new one", "new_password2": "a quite new one"}
    assert submit(client, "/account/password", **given)["Location"] == "/editor/"
    assert is_signed_in(client)
    assert Author.objects.get().check_password("a quite new one")
    assert 'name="old_password"' in client.get("/account/password").text


def test_link__password_may_be_skipped_and_is_asked_for_later(path, clock):
    client = browser()
    submit(client, path)
    assert 'href="/editor/"' in client.get("/account/password").text
    clock.move(minutes=15)
    assert 'name="old_password"' in client.get("/account/password").text


def test_first_author__is_made_and_signed_in(invitation):
    client = browser()
    response = submit(client, invitation, username="ann", display_name="Ann Onym", password=PASSWORD)
    assert response["Location"] == "/editor/"
    author = Author.objects.get()
    assert (author.username, author.shown_name) == ("ann", "Ann Onym")
    assert author.check_password(PASSWORD)
    assert client.get("/admin/").status_code == 200


def test_first_author__without_password(invitation):
    client = browser()
    assert submit(client, invitation, username="ann").status_code == 302
    assert is_signed_in(client)
    assert not Author.objects.get().has_usable_password()


@pytest.mark.parametrize(
    "given",
    [
        {"username": ""},
        {"username": "an n"},
        {"username": ".."},
        {"username": "ann", "password": "short"},
        {"username": "annannannann", "password": "annannannann"},
    ],
)
def test_first_author__refused_values_can_be_corrected(client, invitation, given):
    response = client.post(invitation, given)
    assert response.status_code == 200
    assert 'class="error"' in response.text
    assert not Author.objects.exists()
    assert client.post(invitation, {"username": "ann", "password": PASSWORD}).status_code == 302


def test_first_author__only_while_there_is_none(client, invitation, ann, clock):
    assert client.post(invitation, {"username": "eve"}).status_code == 410
    assert client.get(invitation).status_code == 410
    assert invite_first_author(now=clock.now) is None


def test_first_author__newest_invitation_alone_is_valid(client, invitation, clock):
    newest = invite_first_author(now=clock.now)
    assert client.get(invitation).status_code == 404
    assert client.get(newest).status_code == 200
