"""How often one address may be wrong about a secret: who guesses is slowed down, and costs little."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone

from vernier.authors.client_address import client_address
from vernier.authors.limits import Limit, TooManyTries, count_try, give_back
from vernier.media_api.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from django.http import HttpRequest

# A client is wrong when a sign-in took too long or a token has ended; all clients on one server count as one address.
GUESSES = Limit(name="indieauth-guesses", times=60, window=timedelta(minutes=15))
# The answer does not tell a right guess from a wrong one, so all are counted.
REVOCATIONS = Limit(name="indieauth-revocations", times=60, window=timedelta(minutes=15))


@contextmanager
def guesses_limited(request: HttpRequest) -> Iterator[None]:
    """Count what ends in an exception; raise ApiError 429 when it was too often."""
    now = timezone.now()
    _count(GUESSES, request, now=now)
    yield
    give_back(GUESSES, client_address(request), now=now)


def limit_revocations(request: HttpRequest) -> None:
    """Raise ApiError 429 when one address revokes too often."""
    _count(REVOCATIONS, request, now=timezone.now())


def _count(limit: Limit, request: HttpRequest, *, now: datetime) -> None:
    try:
        count_try(limit, client_address(request), now=now)
    except TooManyTries as error:
        headers = {"Retry-After": str(error.retry_after_seconds)}
        raise ApiError(429, "slow_down", str(error), headers=headers) from error
