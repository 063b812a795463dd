"""The URLs of identities and clients: IndieAuth section 3."""

import pytest

from tests.indieauth.app import VERIFIER, answer_of, challenge
from vernier.authors.models import Author
from vernier.indieauth.codes import s256
from vernier.indieauth.exceptions import InvalidIdentifier
from vernier.indieauth.identifiers import parse_client_id, parse_redirect_uri
from vernier.indieauth.profile import me_url


def test_ia_02__me_is_a_url_with_a_path_and_nothing_that_is_forbidden(author, base):
    other = Author.objects.create_user("bob")
    assert [me_url(base, author), me_url(base, other)] == ["https://ann.example/", "https://ann.example/authors/bob"]


@pytest.mark.parametrize(
    "client_id",
    [
        "https://app.example/",
        "http://app.example/a/b?c=d",
        "https://app.example:8443/",
        "http://127.0.0.1:9000/x",
        "http://[::1]/",
        "http://localhost:5000/",
    ],
)
def test_ia_03__client_ids_that_are_valid(client_id):
    assert parse_client_id(client_id) == client_id


@pytest.mark.parametrize(
    "client_id",
    [
        "",
        "app.example",
        "//app.example/",
        "ftp://app.example/",
        "com.example.app:/",
        "javascript:alert(1)",
        "https://app.example/a/../b",
        "https://app.example/./",
        "https://app.example/%2e%2E/",
        "https://app.example/#x",
        "https://app.example/#",
        "https://me@app.example/",
        "https://me:pw@app.example/",
        "https:///x",
        "https://[::2]/",
        "https://10.0.0.1/",
        "https://192.0.2.1/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://127.1/",
        "https://app.example\\@evil.example/",
        "https://app.example/\n",
        "https://app.example/ x",
        "https://äpp.example/",
        "https://app.example:0/",
        "https://app.example:99999/",
        "https://app.example:/",
        "https://[::1/",
        "https://a..b/",
        "https://app.example/" + "x" * 2048,
    ],
)
def test_ia_03__client_ids_that_are_not(client_id):
    with pytest.raises(InvalidIdentifier):
        parse_client_id(client_id)


@pytest.mark.parametrize(
    "redirect_uri",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "/callback",
        "//app.example",
        "https://app.example/#x",
        "https://me@app.example/",
        "https://app.example\\.evil.example/",
        "https:app",
        "a b:c",
    ],
)
def test_ia_03__redirect_uris_that_are_not_valid(redirect_uri):
    with pytest.raises(InvalidIdentifier):
        parse_redirect_uri(redirect_uri)


@pytest.mark.parametrize("client_id", ["https://app.example", "https://APP.example/", "HTTPS://app.example:443"])
def test_ia_04__an_empty_path_is_a_slash_and_hosts_have_no_case(client_id):
    assert parse_client_id(client_id) == "https://app.example/"


def test_ia_04__a_client_may_spell_itself_differently_when_it_redeems(app):
    code = app.code(client_id="https://App.Example", redirect_uri="https://app.example")
    response = app.redeem(code, client_id="https://app.example:443/", redirect_uri="https://app.example/")
    assert response.status_code == 200, response.content


def test_ia_13__s256_is_that_of_the_specification():
    """RFC 7636, appendix B."""
    assert s256(VERIFIER) == challenge(VERIFIER) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_i3__me_is_the_same_text_everywhere(app, base):
    answer = app.sign_in(scope="create profile")
    headers = {"Authorization": f"Bearer {answer['access_token']}"}
    introspected = app.server.post("/indieauth/introspect", {"token": answer["access_token"]}, headers=headers).json()
    verified = app.server.get("/indieauth/token", headers=headers).json()
    userinfo = app.server.get("/indieauth/userinfo", headers=headers).json()
    asked = app.redeem(app.code(scope=None), at="/indieauth/authorize").json()
    seen = {answer["me"], answer["profile"]["url"], introspected["me"], verified["me"], userinfo["url"], asked["me"]}
    assert seen == {f"{base}/"}


@pytest.mark.parametrize("me", ["http://ann.example", "https://ann.example", "https://evil.example/", "nonsense"])
def test_ia_15__me_is_a_hint_that_changes_nothing(app, base, me):
    page = app.ask(me=me)
    assert f"<code>{base}/</code>" in page.content.decode()
    code = answer_of(app.decide(page, "approve"))["code"]
    assert app.redeem(code).json()["me"] == f"{base}/"
