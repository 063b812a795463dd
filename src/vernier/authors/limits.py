"""How often something may be tried: counted in Django's cache, by account and by client address.

A try is counted before it is made, and given back if it succeeds: tries at the same time do not slip through. The
default cache is in the memory of the one web process; a restart forgets the counts.
"""

from __future__ import annotations

import hashlib
import math
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core.cache import cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """So many tries in a window of time, which begins for everybody at the same moment."""

    name: str
    times: int
    window: timedelta


_QUARTER = timedelta(minutes=15)

# Nobody mistypes a password more often, and with ten tries a quarter of an hour nobody guesses one.
PASSWORD_OF_ACCOUNT = Limit(name="password-account", times=10, window=_QUARTER)
PASSWORD_FROM_ADDRESS = Limit(name="password-address", times=10, window=_QUARTER)
CODE_FROM_ADDRESS = Limit(name="code-address", times=10, window=_QUARTER)
# Each code is a mail in somebody's inbox, and five guesses of a million: fifty a day.
ASKED_FOR_ACCOUNT = Limit(name="asked-account", times=5, window=_QUARTER)
ASKED_FOR_ACCOUNT_DAILY = Limit(name="asked-account-daily", times=10, window=timedelta(days=1))
ASKED_FROM_ADDRESS = Limit(name="asked-address", times=10, window=_QUARTER)


# A limit, and whose tries it counts.
type Tries = tuple[tuple[Limit, str], ...]


class TooManyTries(Exception):  # noqa: N818 - what happened
    """The limit is reached; after `retry_after_seconds` the next try is possible."""

    def __init__(self, retry_after_seconds: int, *, limit: Limit) -> None:
        super().__init__(f"{limit.name}: the next try is possible in {retry_after_seconds} s.")
        self.retry_after_seconds = retry_after_seconds


def count_try(limit: Limit, who: str, *, now: datetime) -> None:
    """Count one try; raise TooManyTries where it is one too many."""
    if _count(limit, who, now) > limit.times:
        raise TooManyTries(_left_seconds(limit, now), limit=limit)


def give_back(limit: Limit, who: str, *, now: datetime) -> None:
    """Do not count a try that has succeeded."""
    with suppress(ValueError):
        cache.decr(_key(limit, who, now))


def count_tries(tries: Tries, *, now: datetime) -> None:
    """Count one try for each; raise TooManyTries for the first where it is one too many."""
    for limit, who in tries:
        count_try(limit, who, now=now)


def give_tries_back(tries: Tries, *, now: datetime) -> None:
    for limit, who in tries:
        give_back(limit, who, now=now)


def _count(limit: Limit, who: str, now: datetime) -> int:
    key = _key(limit, who, now)
    cache.add(key, 0, timeout=_left_seconds(limit, now) + 1)
    try:
        return cache.incr(key)
    except ValueError:
        # The cache has made room in between; it does so with what was not used for longest.
        return 1


def _key(limit: Limit, who: str, now: datetime) -> str:
    """Return a key of characters that every cache takes; names that look alike are one name."""
    name = unicodedata.normalize("NFKC", who).casefold().strip()
    digest = hashlib.sha256(name.encode(errors="replace")).hexdigest()
    return f"vernier-limit:{limit.name}:{int(now.timestamp() // limit.window.total_seconds())}:{digest}"


def _left_seconds(limit: Limit, now: datetime) -> int:
    window_seconds = limit.window.total_seconds()
    return max(1, math.ceil(window_seconds - now.timestamp() % window_seconds))
