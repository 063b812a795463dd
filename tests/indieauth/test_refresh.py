"""New tokens for a refresh token: IndieAuth section 5.5."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.indieauth.test_redemption import error_of
from vernier.authors.models import AccessToken, find_token
from vernier.authors.secret import hash_secret
from vernier.indieauth.grants import OVERLAP
from vernier.indieauth.models import RefreshToken


def test_ia_26__a_refresh_token_gives_new_tokens_of_the_same_scope(app, base):
    old = app.sign_in(scope="create media")
    new = app.refresh(old["refresh_token"]).json()
    assert (new["scope"], new["me"], new["token_type"]) == ("create media", f"{base}/", "Bearer")
    assert find_token(new["access_token"]).client_id == app.client_id
    assert app.refresh(new["refresh_token"]).status_code == 200


def test_ia_26__the_scope_may_be_narrower_and_wide_again(app):
    old = app.sign_in(scope="create media")
    narrow = app.refresh(old["refresh_token"], scope="media").json()
    assert (narrow["scope"], find_token(narrow["access_token"]).scope) == ("media", "media")
    assert app.refresh(narrow["refresh_token"]).json()["scope"] == "create media"


@pytest.mark.parametrize("scope", ["create media delete", "delete", "unknown"])
def test_ia_26__a_wider_scope_is_refused_and_the_refresh_token_kept(app, scope):
    old = app.sign_in(scope="create media")
    assert error_of(app.refresh(old["refresh_token"], scope=scope)) == "invalid_scope"
    assert app.refresh(old["refresh_token"]).status_code == 200


def test_ia_26__another_client_gets_nothing_and_spoils_nothing(app):
    old = app.sign_in()
    assert error_of(app.refresh(old["refresh_token"], client_id="https://other.example/")) == "invalid_grant"
    assert app.refresh(old["refresh_token"]).status_code == 200


@pytest.mark.parametrize("name", ["refresh_token", "client_id"])
def test_ia_26__a_missing_parameter_is_an_invalid_request(app, name):
    old = app.sign_in()
    assert error_of(app.refresh(old["refresh_token"], **{name: ""})) == "invalid_request"


def test_ia_26__a_refresh_token_that_comes_again_ends_all_that_came_from_it(app):
    old = app.sign_in()
    new = app.refresh(old["refresh_token"]).json()
    assert error_of(app.refresh(old["refresh_token"])) == "invalid_grant"
    assert find_token(new["access_token"]) is None
    assert error_of(app.refresh(new["refresh_token"])) == "invalid_grant"


def test_ia_26__the_token_before_ends_soon_after(app):
    old = app.sign_in()
    app.refresh(old["refresh_token"])
    assert find_token(old["access_token"]) is not None
    assert find_token(old["access_token"], now=timezone.now() + OVERLAP + timedelta(seconds=1)) is None


def test_ia_26__a_refresh_token_ends_by_itself(app):
    old = app.sign_in()
    RefreshToken.objects.update(expires_at=timezone.now())
    assert error_of(app.refresh(old["refresh_token"])) == "invalid_grant"


def test_ia_26__a_token_that_was_revoked_elsewhere_is_not_refreshed(app):
    old = app.sign_in()
    AccessToken.objects.filter(sha256=hash_secret(old["access_token"])).update(revoked_at=timezone.now())
    assert error_of(app.refresh(old["refresh_token"])) == "invalid_grant"


def test_ia_26__an_access_token_is_no_refresh_token(app):
    assert error_of(app.refresh(app.sign_in()["access_token"])) == "invalid_grant"
