"""Introspection, revocation, userinfo, and the older uses of the token endpoint: IndieAuth sections 6 to 9."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.indieauth.app import TOKEN, bearer
from vernier.authors.models import AccessToken, Author, find_token, issue_token, touch_token
from vernier.indieauth import rate_limit

INTROSPECT = "/indieauth/introspect"
REVOKE = "/indieauth/revoke"
USERINFO = "/indieauth/userinfo"


@pytest.fixture
def token(author):
    return issue_token(author, scope="create")


def test_ia_27__a_valid_token_is_described(app, base):
    answer = app.sign_in()
    response = app.server.post(INTROSPECT, {"token": answer["access_token"]}, headers=bearer(answer["access_token"]))
    token = find_token(answer["access_token"])
    assert (response.status_code, response["Cache-Control"]) == (200, "no-store")
    assert response.json() == {
        "active": True,
        "me": f"{base}/",
        "client_id": app.client_id,
        "scope": "create media",
        "iat": int(token.created_at.timestamp()),
        "exp": int(token.expires_at.timestamp()),
    }


def test_ia_27__a_token_without_an_end_has_no_exp(client, token):
    response = client.post(INTROSPECT, {"token": token}, headers=bearer(token))
    assert response.json()["active"] is True
    assert "exp" not in response.json()


@pytest.mark.parametrize("ended", ["unknown", "revoked", "expired", "another's"])
def test_ia_27__any_other_token_is_inactive_and_nothing_more(client, author, token, ended):
    now = timezone.now()
    secret = issue_token(author, scope="create", expires_at=now if ended == "expired" else None)
    if ended == "revoked":
        client.post(REVOKE, {"token": secret})
    if ended == "another's":
        secret = issue_token(Author.objects.create_user("bob"), scope="create")
    response = client.post(INTROSPECT, {"token": "x" if ended == "unknown" else secret}, headers=bearer(token))
    assert (response.status_code, response.json()) == (200, {"active": False})


@pytest.mark.parametrize("headers", [{}, bearer("unknown"), {"Authorization": "Basic YTpi"}])
def test_ia_27__nobody_may_ask_without_a_token(client, token, headers):
    response = client.post(INTROSPECT, {"token": token}, headers=headers)
    assert response.status_code == 401
    assert "active" not in response.json()


def test_ia_27__the_token_to_describe_is_needed(client, token):
    response = client.post(INTROSPECT, headers=bearer(token))
    assert (response.status_code, response.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize(("path", "more"), [(REVOKE, {}), (TOKEN, {"action": "revoke"})])
def test_ia_28__a_token_is_revoked_by_who_has_it(client, token, path, more):
    for secret in (token, token, "unknown", "ä\x00", "x" * 5000):
        response = client.post(path, {"token": secret, **more})
        assert (response.status_code, response["Content-Type"]) == (200, "application/json")
    assert find_token(token) is None


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_ia_28__all_tokens_of_a_sign_in_end_together(app, kind):
    first = app.sign_in()
    second = app.refresh(first["refresh_token"]).json()
    assert app.server.post(REVOKE, {"token": second[kind], "token_type_hint": kind}).status_code == 200
    assert find_token(first["access_token"]) is None
    assert find_token(second["access_token"]) is None
    assert app.refresh(second["refresh_token"]).json()["error"] == "invalid_grant"


def test_ia_28__the_token_to_revoke_is_needed(client, db):
    assert client.post(REVOKE).json()["error"] == "invalid_request"


def test_ia_28__an_older_resource_server_verifies_at_the_token_endpoint(app, base):
    answer = app.sign_in()
    response = app.server.get(TOKEN, headers=bearer(answer["access_token"]))
    assert response.json() == {"me": f"{base}/", "client_id": app.client_id, "scope": "create media"}
    app.server.post(TOKEN, {"action": "revoke", "token": answer["access_token"]})
    response = app.server.get(TOKEN, headers=bearer(answer["access_token"]))
    assert (response.status_code, response.json()["error"]) == (401, "invalid_token")


def test_ia_29__userinfo_is_the_profile(client, author, base):
    author.display_name, author.email = "Ann Example", "ann@ann.example"
    author.save()
    token = issue_token(author, scope="profile")
    response = client.get(USERINFO, headers=bearer(token))
    assert response.json() == {"name": "Ann Example", "url": f"{base}/"}
    token = issue_token(author, scope="profile email")
    assert client.get(USERINFO, headers=bearer(token)).json()["email"] == "ann@ann.example"


@pytest.mark.parametrize(("path", "method"), [(USERINFO, "GET"), (TOKEN, "GET"), (INTROSPECT, "POST")])
def test_ia_30__no_credentials_are_401_without_a_code_and_wrong_ones_with_it(client, db, path, method):
    response = client.generic(method, path)
    assert (response.status_code, "error" in response.json()) == (401, False)
    assert response["WWW-Authenticate"].startswith("Bearer")
    response = client.generic(method, path, headers=bearer("unknown"))
    assert (response.status_code, response.json()["error"]) == (401, "invalid_token")
    assert 'error="invalid_token"' in response["WWW-Authenticate"]


@pytest.mark.parametrize("scope", ["create", "email"])
def test_ia_29__userinfo_without_its_scope_is_403(client, author, scope):
    response = client.get(USERINFO, headers=bearer(issue_token(author, scope=scope)))
    assert (response.status_code, response.json()["error"]) == (403, "insufficient_scope")
    assert 'error="insufficient_scope"' in response["WWW-Authenticate"]


@pytest.mark.parametrize("path", [TOKEN, INTROSPECT, REVOKE, USERINFO, "/indieauth/metadata"])
def test_ia_30__another_method_is_405_in_json(client, db, path):
    response = client.put(path)
    assert (response.status_code, response.json()["error"]) == (405, "method_not_allowed")
    assert "OPTIONS" in response["Allow"]


@pytest.mark.parametrize(
    ("path", "method", "form"),
    [
        (TOKEN, "post", {"grant_type": "authorization_code", "code": "x", "client_id": "http://a.example/"}),
        (TOKEN, "get", {}),
        (INTROSPECT, "post", {"token": "x"}),
        (USERINFO, "get", {}),
        (REVOKE, "post", {"token": "x"}),
    ],
)
def test_ia_32__who_guesses_is_slowed_down(client, db, path, method, form):
    form |= {"redirect_uri": "https://app.example/"} if form else {}
    answers = [getattr(client, method)(path, form) for _ in range(rate_limit.GUESSES.times + 1)]
    assert 429 not in {response.status_code for response in answers[:-1]}
    assert answers[-1].status_code == 429
    assert int(answers[-1]["Retry-After"]) > 0


def test_ia_32__who_is_right_is_not_slowed_down(client, token):
    answers = [client.get(TOKEN, headers=bearer(token)) for _ in range(rate_limit.GUESSES.times + 1)]
    assert {response.status_code for response in answers} == {200}


def test_last_used__costs_nothing_within_the_hour(client, token, django_assert_num_queries):
    client.get(TOKEN, headers=bearer(token))
    used = find_token(token)
    with django_assert_num_queries(0):
        touch_token(used)


def test_last_used__is_known_to_the_hour(client, token):
    client.get(TOKEN, headers=bearer(token))
    first = AccessToken.objects.get().last_used_at
    assert timezone.now() - first < timedelta(minutes=1)
    client.get(TOKEN, headers=bearer(token))
    assert AccessToken.objects.get().last_used_at == first
    AccessToken.objects.update(last_used_at=first - timedelta(hours=2))
    client.get(TOKEN, headers=bearer(token))
    assert AccessToken.objects.get().last_used_at >= first
