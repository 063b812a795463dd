"""Signing in by mailed code, and that nothing tells who has an account."""

import re

import pytest
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.authors.pages import browser, is_signed_in, submit
from vernier.authors.models import Author, SignInCode
from vernier.authors.sign_in_code import mail_code
from vernier.engines.ox import drain
from vernier.mail.models import Mail

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("mail_enabled", "ann")]


def ask(client, name="ann", **more):
    return submit(client, "/login/mail", name=name, **more)


def mailed_code():
    """Let the jobs run and return the code of the last mail."""
    drain()
    return re.search(r"\d{6}", mail.outbox[-1].body)[0]


@pytest.fixture
def client():
    return browser()


@pytest.fixture
def code(client):
    ask(client)
    return mailed_code()


def wrong(code):
    return f"{(int(code) + 1) % 10**6:06}"


@pytest.mark.parametrize("name", ["ann", " ann ", "ann@example.net", "ANN@example.net"])
def test_code__signs_in(client, name):
    assert ask(client, name)["Location"].startswith("/login/code")
    code = mailed_code()
    assert mail.outbox[0].to == ["ann@example.net"]
    assert "example.org" in mail.outbox[0].subject
    assert submit(client, "/login/code", code=code)["Location"] == "/editor/"
    assert is_signed_in(client)


def test_code__with_spaces_goes_where_the_browser_wanted(client):
    ask(client, next="/account/email")
    code = mailed_code()
    page = client.get("/login/code?next=/account/email")
    given = {
        "code": f" {code[:3]} {code[3:]}",
        "next": page.context["next"],
        "csrfmiddlewaretoken": client.cookies["csrftoken"].value,
    }
    assert client.post("/login/code", given)["Location"] == "/account/email"


def test_code__works_once(client, code):
    submit(client, "/login/code", code=code)
    client.post("/logout")
    client.cookies.pop("sessionid")
    assert "not right" in submit(client, "/login/code", code=code).text


def test_code__is_of_no_use_in_another_browser(client, code):
    other = browser()
    ask(other)
    for stranger in (other, browser()):
        assert "not right" in submit(stranger, "/login/code", code=code).text
    assert submit(client, "/login/code", code=code).status_code == 302


def test_code__is_valid_for_ten_minutes(client, code, clock):
    clock.move(minutes=10)
    assert "not right" in submit(client, "/login/code", code=code).text
    assert not is_signed_in(client)


def test_code__five_guesses(client, code):
    for _ in range(5):
        assert "not right" in submit(client, "/login/code", code=wrong(code)).text
    assert "not right" in submit(client, "/login/code", code=code).text
    assert not is_signed_in(client)


@pytest.mark.parametrize("given", ["", "abcdef", "1" * 1000, "\0", "\uff11" * 6])
def test_code__nonsense(client, code, given):
    assert 'class="error"' in submit(client, "/login/code", code=given).text


def test_code__guesses_from_one_address_end(client, code):
    for _ in range(10):
        submit(client, "/login/code", code=wrong(code))
    response = submit(client, "/login/code", code=code)
    assert response.status_code == 429
    assert int(response["Retry-After"]) > 0


@pytest.mark.parametrize("change", [{"is_active": False}, {"email": ""}, {"username": "zoe"}])
def test_code__nobody_to_mail_it_to(client, change):
    Author.objects.update(**change)
    known = ask(client)
    drain()
    assert known.status_code == 302
    assert mail.outbox == []
    assert "not right" in submit(client, "/login/code", code="000000").text


def test_code__address_of_two_authors_is_nobodys(client):
    Author.objects.create_user("bob", "ann@example.net")
    ask(client, "ann@example.net")
    drain()
    assert mail.outbox == []


def test_code__request_is_the_same_for_every_name():
    seen = []
    for name in ("ann", "nobody"):
        client = browser()
        client.get("/login/mail")
        token = client.cookies["csrftoken"].value
        with CaptureQueriesContext(connection) as queries:
            response = client.post("/login/mail", {"name": name, "csrfmiddlewaretoken": token})
        statements = [re.sub(r"\s.*", "", query["sql"]) for query in queries]
        seen.append(
            (response.status_code, response["Location"], statements, client.get("/login/code").text.count("\n"))
        )
    assert seen[0] == seen[1]


def test_code__is_not_kept_in_the_open(client, code):
    assert code not in str(list(SignInCode.objects.values()))
    assert Mail.objects.get().text == ""
    assert SignInCode.objects.get().asked_for == ""


def test_code__asked_for_too_often(client):
    for _ in range(5):
        assert ask(client).status_code == 302
    assert ask(client).status_code == 429
    assert ask(client, "nobody").status_code == 302
    drain()
    assert len(mail.outbox) == 5


def test_code__asked_for_too_often_in_a_day(client, clock):
    for _ in range(2):
        for _ in range(5):
            assert ask(client).status_code == 302
        clock.move(minutes=15)
    response = ask(client)
    assert response.status_code == 429
    assert int(response["Retry-After"]) > 3600


def test_code__job_that_runs_twice_mails_once(client):
    ask(client)
    mailed_code()
    mail_code(SignInCode.objects.get().pk)
    drain()
    assert len(mail.outbox) == 1


def test_code__password_may_be_set_without_the_old_one(client, code):
    submit(client, "/login/code", code=code)
    assert 'name="old_password"' not in client.get("/account/password").text


def test_code__page_says_what_browsers_look_for(client):
    text = client.get("/login/code").text
    assert 'autocomplete="one-time-code"' in text
    assert 'inputmode="numeric"' in text


def test_code__not_where_there_is_no_mail(client, settings):
    settings.VERNIER_MAIL = {}
    assert client.get("/login/mail").status_code == 404
    assert client.get("/login/code").status_code == 404
