"""Codes become tokens, or only a name: IndieAuth section 5.3."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.indieauth.app import AUTHORIZE, TOKEN, bearer
from vernier.authors.models import AccessToken, find_token
from vernier.authors.secret import hash_secret
from vernier.indieauth.codes import CODE_LIFE
from vernier.indieauth.models import AuthorizationCode, RefreshToken

BOTH = pytest.mark.parametrize("endpoint", [AUTHORIZE, TOKEN])


def error_of(response):
    """Return the code of an error that is written as RFC 6749 wants it."""
    assert response.status_code == 400, response.content
    assert response["Content-Type"] == "application/json"
    assert response["Cache-Control"] == "no-store"
    assert response.json()["error_description"]
    return response.json()["error"]


@BOTH
@pytest.mark.parametrize(
    "changes",
    [
        {"code": "unknown"},
        {"client_id": "https://other.example/"},
        {"redirect_uri": "https://app.example/callback2"},
        {"redirect_uri": "https://app.example/callback?"},
        {"redirect_uri": "https://["},
        {"code_verifier": "x" * 43},
        {"code_verifier": "ä\x00"},
    ],
)
def test_ia_19__a_mismatch_is_an_invalid_grant(app, endpoint, changes):
    assert error_of(app.redeem(app.code(), at=endpoint, **changes)) == "invalid_grant"
    assert not AccessToken.objects.exists()


@BOTH
@pytest.mark.parametrize("name", ["code", "client_id", "redirect_uri"])
@pytest.mark.parametrize("value", [None, "", ["a", "b"]])
def test_ia_19__a_missing_parameter_is_an_invalid_request(app, endpoint, name, value):
    code = app.code()
    if endpoint == AUTHORIZE and (name, value) == ("code", None):
        # Without a code it would be a decision of the author.
        value = ""
    response = app.redeem(code, at=endpoint, **{name: value})
    assert error_of(response) == "invalid_request"
    assert name in response.json()["error_description"]


def test_ia_19__the_grant_type_is_needed_and_must_be_known(app):
    code = app.code()
    assert error_of(app.redeem(code, grant_type=None)) == "invalid_request"
    assert error_of(app.redeem(code, grant_type="password")) == "unsupported_grant_type"
    assert error_of(app.redeem(code, at=AUTHORIZE, grant_type="password")) == "unsupported_grant_type"
    assert app.redeem(code, at=AUTHORIZE, grant_type=None).status_code == 200


def test_ia_19__a_failed_attempt_leaves_the_code_to_its_client(app):
    code = app.code()
    app.redeem(code, code_verifier="x" * 43)
    assert app.redeem(code).status_code == 200


@BOTH
def test_ia_20__a_code_is_good_for_minutes(app, endpoint):
    assert timedelta(minutes=10) >= CODE_LIFE
    code = app.code()
    AuthorizationCode.objects.update(expires_at=timezone.now())
    response = app.redeem(code, at=endpoint)
    assert error_of(response) == "invalid_grant"
    assert "expired" in response.json()["error_description"]


@pytest.mark.parametrize("first", [AUTHORIZE, TOKEN])
@pytest.mark.parametrize("second", [AUTHORIZE, TOKEN])
def test_ia_20__a_code_is_good_once_whichever_the_endpoint(app, first, second):
    code = app.code()
    assert app.redeem(code, at=first).status_code == 200
    assert error_of(app.redeem(code, at=second)) == "invalid_grant"


@BOTH
def test_ia_20__a_code_that_comes_again_ends_the_tokens_from_it(app, endpoint):
    code = app.code()
    stolen, other = app.redeem(code).json(), app.sign_in()
    app.redeem(code, at=endpoint)
    assert find_token(stolen["access_token"]) is None
    assert error_of(app.refresh(stolen["refresh_token"])) == "invalid_grant"
    assert find_token(other["access_token"]) is not None


@BOTH
def test_ia_21__a_challenge_asks_for_its_verifier(app, endpoint):
    assert error_of(app.redeem(app.code(), at=endpoint, code_verifier=None)) == "invalid_grant"


@BOTH
def test_ia_21__a_verifier_without_a_challenge_is_refused(app, endpoint):
    """Somebody may have taken the challenge out of the request on its way."""
    code = app.code(code_challenge=None, code_challenge_method=None)
    assert error_of(app.redeem(code, at=endpoint)) == "invalid_grant"


def test_ia_22__the_authorization_endpoint_says_who_and_gives_no_token(app, base):
    response = app.redeem(app.code(scope="create"), at=AUTHORIZE)
    assert (response.status_code, response.json()) == (200, {"me": f"{base}/"})
    assert response["Cache-Control"] == "no-store"
    assert not AccessToken.objects.exists()
    assert not RefreshToken.objects.exists()


@pytest.mark.parametrize(
    ("scope", "names"), [("profile", {"name", "url"}), ("profile email", {"name", "url", "email"}), ("email", None)]
)
def test_ia_22__the_profile_is_there_as_far_as_it_was_granted(app, author, base, scope, names):
    author.display_name, author.email = "Ann Example", "ann@ann.example"
    author.save()
    answer = app.redeem(app.code(scope=scope), at=AUTHORIZE).json()
    if names is None:
        assert "profile" not in answer
    else:
        shown = {"name": "Ann Example", "url": f"{base}/", "email": "ann@ann.example"}
        assert answer["profile"] == {name: shown[name] for name in names}


@pytest.mark.parametrize("scopes", [{"scope": None}, {"scope": "unknown"}, {"scope": "create", "scopes": []}])
def test_ia_23__without_a_scope_there_is_no_token(app, scopes):
    code = app.code(**scopes)
    assert error_of(app.redeem(code)) == "invalid_grant"
    assert not AccessToken.objects.exists()
    assert app.redeem(code, at=AUTHORIZE).status_code == 200


def test_ia_24__the_token_response(app, base, author):
    response = app.redeem(app.code(scope="create media profile unknown"))
    answer = response.json()
    assert (response.status_code, response["Cache-Control"]) == (200, "no-store")
    assert set(answer) == {"access_token", "token_type", "scope", "me", "expires_in", "refresh_token", "profile"}
    assert (answer["token_type"], answer["scope"], answer["me"]) == ("Bearer", "create media profile", f"{base}/")
    token = find_token(answer["access_token"])
    assert (token.author, token.client_id, token.scope) == (author, app.client_id, "create media profile")
    assert answer["expires_in"] == (token.expires_at - token.created_at).total_seconds() > 86400 * 300


def test_ia_24__the_token_opens_the_api(app):
    answer = app.sign_in(scope="media")
    assert app.server.get("/indieauth/token", headers=bearer(answer["access_token"])).status_code == 200


def test_ia_25__two_sign_ins_of_one_app_are_independent(app):
    first, second = app.sign_in(), app.sign_in()
    assert first["access_token"] != second["access_token"]
    app.server.post("/indieauth/revoke", {"token": first["access_token"]})
    assert find_token(first["access_token"]) is None
    assert find_token(second["access_token"]) is not None
    assert app.refresh(second["refresh_token"]).status_code == 200


def test_ia_20__an_author_who_was_deactivated_gives_no_token(app, author):
    code = app.code()
    author.is_active = False
    author.save()
    assert error_of(app.redeem(code)) == "invalid_grant"


def test_ia_31__codes_and_tokens_are_kept_as_hashes(app):
    code = app.code()
    answer = app.redeem(code).json()
    assert AuthorizationCode.objects.get().sha256 == hash_secret(code)
    assert AccessToken.objects.get().sha256 == hash_secret(answer["access_token"])
    assert RefreshToken.objects.get().sha256 == hash_secret(answer["refresh_token"])
    secrets = {code, answer["access_token"], answer["refresh_token"]}
    for model in (AuthorizationCode, AccessToken, RefreshToken):
        assert secrets.isdisjoint(str(value) for row in model.objects.values() for value in row.values())
