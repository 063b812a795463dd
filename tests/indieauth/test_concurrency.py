"""Several requests at the same moment, on a real database file."""

import threading

import pytest
from django.db import connection
from django.utils import timezone

from tests.indieauth.app import CLIENT_ID, REDIRECT_URI, VERIFIER, challenge
from vernier.authors.models import AccessToken
from vernier.indieauth.codes import Approval, Redemption, issue_code, redeem_for_identity, redeem_for_tokens
from vernier.indieauth.exceptions import InvalidGrant
from vernier.indieauth.grants import refresh
from vernier.indieauth.models import Grant

TIMES = 4


def at_once(*calls):
    """Run the calls in threads that start together; return what each has returned or raised."""
    barrier, results = threading.Barrier(len(calls)), []

    def run(call):
        try:
            barrier.wait(10)
            results.append(call())
        except InvalidGrant as error:
            results.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return results


@pytest.fixture
def redemption(transactional_db, author):
    approval = Approval(
        author=author,
        client_id=CLIENT_ID,
        client_name="",
        redirect_uri=REDIRECT_URI,
        scope="create",
        code_challenge=challenge(VERIFIER),
    )
    code = issue_code(approval, now=timezone.now())
    return Redemption(code=code, client_id=CLIENT_ID, redirect_uri=REDIRECT_URI, code_verifier=VERIFIER)


def successes(results):
    assert len(results) == TIMES
    return [result for result in results if not isinstance(result, InvalidGrant)]


def test_ia_20__of_redemptions_at_the_same_moment_one_succeeds(redemption):
    now = timezone.now()
    calls = [lambda: redeem_for_tokens(redemption, now=now), lambda: redeem_for_identity(redemption, now=now)]
    assert len(successes(at_once(*calls, *calls))) == 1
    assert Grant.objects.count() <= 1
    assert not AccessToken.objects.filter(revoked_at=None).exists()


def test_ia_26__of_refreshes_at_the_same_moment_one_succeeds(redemption):
    now = timezone.now()
    issued = redeem_for_tokens(redemption, now=now)
    calls = [lambda: refresh(issued.refresh_token, client_id=CLIENT_ID, scope=None, now=now)] * TIMES
    assert len(successes(at_once(*calls))) == 1
    assert not AccessToken.objects.filter(revoked_at=None).exists()
