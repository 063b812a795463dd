"""The author's own page: profile, e-mail address, password."""

import pytest

from tests.authors.pages import PASSWORD, browser, is_signed_in, submit
from vernier.authors.models import Author

pytestmark = pytest.mark.django_db

NEW = "a quite new one"


@pytest.fixture
def client(ann):
    client = browser()
    client.force_login(ann)
    return client


def change_password(client, old=PASSWORD, new=NEW, again=None):
    return submit(client, "/account/password", old_password=old, new_password1=new, new_password2=again or new)


@pytest.mark.parametrize("path", ["/account", "/account/email", "/account/password"])
def test_account__asks_to_sign_in_first(path, db):
    assert browser().get(path)["Location"] == f"/login?next={path}"


def test_profile__is_saved(client, ann):
    links = "https://social.example/@ann\r\n\r\n  http://ann.example/ \r\nhttps://social.example/@ann"
    response = submit(client, "/account", display_name="Ann Onym", note="Hello.\nThere.", links=links)
    assert response["Location"] == "/account"
    ann.refresh_from_db()
    assert (ann.shown_name, ann.note.splitlines()) == ("Ann Onym", ["Hello.", "There."])
    assert ann.links == ["https://social.example/@ann", "http://ann.example/"]
    page = client.get("/account").text
    assert "Your profile is saved." in page
    assert "https://social.example/@ann\nhttp://ann.example/" in page


@pytest.mark.parametrize(
    "given",
    [
        {"links": "javascript:alert(1)"},
        {"links": "social.example"},
        {"links": "https://x.example/" + "y" * 500},
        {"links": "\n".join(f"https://x.example/{n}" for n in range(21))},
        {"note": "x" * 2001},
        {"display_name": "x" * 101},
        {"display_name": "a\0b"},
    ],
)
def test_profile__refused_values_are_explained(client, ann, given):
    response = submit(client, "/account", **given)
    assert response.status_code == 200
    assert 'class="error"' in response.text
    ann.refresh_from_db()
    assert (ann.display_name, ann.note, ann.links) == ("", "", [])


def test_profile__does_not_undo_what_happened_meanwhile(client, ann):
    page = client.get("/account")
    Author.objects.update(is_staff=True, email="new@example.net")
    client.post("/account", {"display_name": "Ann", "csrfmiddlewaretoken": page.context["csrf_token"]})
    ann.refresh_from_db()
    assert (ann.is_staff, ann.email, ann.display_name) == (True, "new@example.net", "Ann")


def test_email__takes_the_password(client, ann):
    assert (
        "This is not your password." in submit(client, "/account/email", email="eve@example.net", password="x").text
    )
    assert submit(client, "/account/email", email="new@example.net", password=PASSWORD)["Location"] == "/account"
    ann.refresh_from_db()
    assert ann.email == "new@example.net"


def test_email__of_an_author_without_password(client, ann):
    ann.set_unusable_password()
    ann.save()
    client.force_login(ann)
    assert submit(client, "/account/email", email="new@example.net").status_code == 302
    assert 'class="error"' in submit(client, "/account/email", email="no address").text


def test_password__is_changed_and_other_sessions_end(client, ann):
    other = browser()
    other.force_login(ann)
    assert change_password(client)["Location"] == "/account"
    assert is_signed_in(client)
    assert not is_signed_in(other)
    ann.refresh_from_db()
    assert ann.check_password(NEW)


@pytest.mark.parametrize(
    ("old", "new", "again"),
    [
        ("wrong", NEW, NEW),
        (PASSWORD, "short", "short"),
        (PASSWORD, NEW, "another"),
        (PASSWORD, "1234567890", "1234567890"),
    ],
)
def test_password__refused(client, ann, old, new, again):
    assert 'class="error"' in change_password(client, old, new, again).text
    ann.refresh_from_db()
    assert ann.check_password(PASSWORD)


def test_password__cannot_be_guessed_in_a_session_that_was_left_open(client):
    for _ in range(5):
        assert change_password(client, "wrong").status_code == 200
        assert submit(client, "/account/email", email="eve@example.net", password="wrong").status_code == 200
    assert change_password(client).status_code == 429
    assert submit(client, "/account/email", email="eve@example.net", password=PASSWORD).status_code == 429


def test_account__forms_need_their_token(client, ann):
    for path in ("/account", "/account/email", "/account/password"):
        assert client.post(path, {"display_name": "Eve", "email": "eve@example.net"}).status_code == 403
    assert client.post("/logout").status_code == 403
    assert is_signed_in(client)
