"""What is over is removed, and nothing else."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.indieauth.test_redemption import error_of
from vernier.authors.models import AccessToken, find_token, issue_token
from vernier.indieauth.forget import CODE_GRACE, forget_ended
from vernier.indieauth.models import AuthorizationCode, ClientInformation, Grant, RefreshToken

MODELS = (AuthorizationCode, ClientInformation, Grant, RefreshToken, AccessToken)


def later(**time):
    return timezone.now() + timedelta(**time)


def test_forget__writes_nothing_when_there_is_nothing(app, django_assert_num_queries):
    app.sign_in()
    with django_assert_num_queries(5):
        assert forget_ended(timezone.now()) == 0


def test_forget__removes_codes_and_clients_and_keeps_tokens(app):
    answer = app.sign_in()
    app.code()
    assert forget_ended(later(days=2)) == 3
    assert not AuthorizationCode.objects.exists()
    assert not ClientInformation.objects.exists()
    assert find_token(answer["access_token"]) is not None
    assert app.refresh(answer["refresh_token"]).status_code == 200


def test_forget__keeps_a_used_code_so_long_that_its_replay_is_noticed(app):
    code = app.code()
    answer = app.redeem(code).json()
    forget_ended(timezone.now() + CODE_GRACE)
    assert error_of(app.redeem(code)) == "invalid_grant"
    assert find_token(answer["access_token"]) is None


def test_forget__removes_everything_of_a_sign_in_that_was_revoked(app):
    app.server.post("/indieauth/revoke", {"token": app.sign_in()["access_token"]})
    forget_ended(later(days=31))
    assert [model.objects.count() for model in MODELS] == [0] * len(MODELS)


@pytest.mark.parametrize("days", [31, 400])
def test_forget__brings_no_sign_in_back_whose_token_was_revoked_by_hand(app, days):
    answer = app.sign_in()
    AccessToken.objects.update(revoked_at=timezone.now())
    forget_ended(later(days=days))
    assert error_of(app.refresh(answer["refresh_token"])) == "invalid_grant"


def test_forget__removes_everything_of_a_sign_in_that_has_ended(app):
    app.sign_in()
    for _ in range(2):
        forget_ended(later(days=800))
    assert [model.objects.count() for model in MODELS] == [0] * len(MODELS)


def test_forget__keeps_what_was_made_by_hand(author):
    secret = issue_token(author, scope="create")
    forget_ended(later(days=5000))
    assert find_token(secret) is not None
