"""Signing in by password: who gets in, where to, and how often somebody may be wrong."""

import pytest

from tests.authors.pages import PASSWORD, browser, is_signed_in, submit
from vernier.authors.models import Author

pytestmark = pytest.mark.django_db


def login(client, name="ann", password=PASSWORD, query="", **more):
    return client.post(f"/login{query}", {"username": name, "password": password}, **more)


def test_login__with_the_right_password(ann):
    client = browser()
    response = submit(client, "/login", username="ann", password=PASSWORD)
    assert (response.status_code, response["Location"]) == (302, "/editor/")
    assert is_signed_in(client)


def test_login__needs_the_token_of_the_form(ann):
    client = browser()
    assert login(client).status_code == 403
    assert not is_signed_in(client)


WRONG = "There is no author with this user name and this password."


@pytest.mark.parametrize(("name", "password"), [("ann", "wrong"), ("nobody", PASSWORD), ("Ann", PASSWORD)])
def test_login__refused_in_one_way(client, ann, name, password):
    response = login(client, name, password)
    assert WRONG in response.text
    assert not is_signed_in(client)


@pytest.mark.parametrize(("name", "password"), [("", ""), ("a\0b", "x"), ("ann", ""), ("x" * 5000, "y" * 5000)])
def test_login__nonsense_is_explained(client, ann, name, password):
    response = login(client, name, password)
    assert response.status_code == 200
    assert 'class="error"' in response.text


def test_login__errors_belong_to_their_fields(client, db):
    text = login(client, "", "").text
    assert 'aria-describedby="id_username_error"' in text
    assert 'id="id_username_error"' in text
    assert 'aria-invalid="true"' in text


def test_login__of_an_inactive_author(client, ann):
    Author.objects.update(is_active=False)
    assert WRONG in login(client).text


def test_login__unknown_name_is_hashed_too(client, ann, monkeypatch):
    hashed = []
    monkeypatch.setattr(Author, "set_password", lambda self, raw: hashed.append(raw))
    login(client, "nobody", "guess")
    assert hashed == ["guess"]


@pytest.mark.parametrize(
    "wanted", ["/account", "/indieauth/authorize?client_id=https://app.example/&state=1", "http://testserver/x"]
)
def test_login__goes_where_the_browser_wanted(client, ann, wanted):
    page = client.get("/login", {"next": wanted})
    assert (
        client.post("/login", {"username": "ann", "password": PASSWORD, "next": page.context["next"]})["Location"]
        == wanted
    )


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "http:///evil.example",
        "\x08//evil.example",
    ],
)
def test_login__goes_nowhere_else(client, ann, wanted):
    assert client.post("/login", {"username": "ann", "password": PASSWORD, "next": wanted})["Location"] == "/editor/"
    assert wanted not in client.get("/login", {"next": wanted}).text


def test_login__makes_a_new_session(client, ann):
    client.session["before"] = "1"
    client.session.save()
    key = client.session.session_key
    response = login(client)
    assert client.session.session_key != key
    cookie = response.cookies["sessionid"]
    assert (cookie["httponly"], cookie["samesite"], cookie["max-age"]) == (True, "Lax", 30 * 24 * 3600)


def test_login__ten_failures_for_an_account(client, ann):
    for number in range(10):
        assert login(client, "ann", "wrong", REMOTE_ADDR=f"192.0.2.{number}").status_code == 200
    response = login(client, "ANN ", REMOTE_ADDR="192.0.2.99")
    assert response.status_code == 429
    assert 0 < int(response["Retry-After"]) <= 900
    assert "Try again in" in response.text
    assert login(client, "bob", "wrong", REMOTE_ADDR="192.0.2.99").status_code == 200


def test_login__ten_failures_from_an_address(client, ann):
    for number in range(10):
        login(client, f"guess{number}", "wrong", REMOTE_ADDR="192.0.2.1")
    assert login(client, REMOTE_ADDR="192.0.2.1").status_code == 429
    assert login(client, REMOTE_ADDR="192.0.2.2").status_code == 302


def test_login__limit_does_not_tell_whether_the_account_exists(client, ann):
    def answers(name, network):
        return [login(client, name, "wrong", REMOTE_ADDR=f"{network}.{n}").status_code for n in range(12)]

    assert answers("ann", "192.0.2") == answers("nobody", "198.51.100") == [200] * 10 + [429] * 2


def test_login__success_is_no_failure(client, ann):
    assert {login(client).status_code for _ in range(15)} == {302}


def test_login__when_signed_in_goes_on(client, ann):
    client.force_login(ann)
    assert client.get("/login?next=/account")["Location"] == "/account"


def test_login__page_is_private_and_has_no_script(client, db):
    response = client.get("/login")
    assert "no-store" in response["Cache-Control"]
    assert response["X-Frame-Options"] == "DENY"
    assert "<script" not in response.text
    assert "style=" not in response.text
    assert 'autocomplete="username"' in response.text
    assert 'autocomplete="current-password"' in response.text


def test_login__offers_a_code_where_there_is_mail(client, db, mail_enabled, settings):
    assert "/login/mail" in client.get("/login").text
    settings.VERNIER_MAIL = {}
    assert "/login/mail" not in client.get("/login").text


def test_admin__login_is_that_of_the_site(client, ann):
    response = client.get("/admin/", follow=True)
    assert response.redirect_chain[-1][0] == "/login?next=%2Fadmin%2F"
    assert client.post("/admin/login/", {"username": "ann", "password": PASSWORD}).status_code == 302
    assert not is_signed_in(client)


def test_admin__is_for_the_operator(client, ann):
    client.force_login(ann)
    assert client.get("/admin/", follow=True).status_code == 403
    Author.objects.update(is_staff=True, is_superuser=True)
    assert client.get("/admin/authors/author/").status_code == 200


def test_logout__by_post_only(client, ann):
    client.force_login(ann)
    assert client.get("/logout").status_code == 405
    assert is_signed_in(client)
    assert client.post("/logout")["Location"] == "/"
    assert not is_signed_in(client)
