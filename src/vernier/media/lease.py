"""Lease: the time-limited right to work on a Version, and the only way in which a worker writes to it."""

from __future__ import annotations

import threading
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from vernier.media.exceptions import HandedBack, LeaseLost
from vernier.media.jobs import ring
from vernier.media.log import log_transition
from vernier.media.models import Media, Version

if TYPE_CHECKING:
    from collections.abc import Callable

    from vernier.media.conf import MediaSettings
    from vernier.media.transitions import VersionQuerySet

# A lease is renewed this many times in its length, so that one renewal may come late without harm.
RENEWALS_PER_LEASE = 3

_stop_requested = threading.Event()


def request_stop() -> None:
    """Tell this process that it is to end: a running attempt is handed back, and nothing more is claimed."""
    _stop_requested.set()


def claim(media_id: uuid.UUID, number: int, *, conf: MediaSettings, clock: Callable[[], datetime]) -> Lease | None:
    """Take the lease on a Version and count the attempt; None where there is nothing to do."""
    # Not a join: the conditions must stand in the UPDATE itself, where a database looks at them again after it has
    # waited for the row.
    named = Version.objects.filter(media_id=media_id, number=number, media__in=Media.objects.live())
    if _stop_requested.is_set():
        _leave(named.waiting(now=clock(), conf=conf))
        return None
    token = uuid.uuid4()
    if not named.claim(token=token, now=clock(), conf=conf):
        return None
    version = Version.objects.get(media_id=media_id, number=number)
    lease = Lease(version=version, token=token, conf=conf, clock=clock)
    lease.log("claimed")
    return lease


def _leave(waiting: VersionQuerySet) -> None:
    """Have another worker find what this one was about to take."""
    for version in waiting:
        ring(version)


@dataclass(kw_only=True)
class Lease:
    """A Version that this worker has claimed."""

    version: Version
    token: uuid.UUID
    conf: MediaSettings
    clock: Callable[[], datetime]
    renew_at: datetime = field(init=False)

    def __post_init__(self) -> None:
        self._schedule_renewal()

    def held(self) -> VersionQuerySet:
        """Return the Version as a query that finds it under this lease only, and only while that lasts."""
        return Version.objects.filter(pk=self.version.pk).held(token=self.token, now=self.clock())

    def tick(self) -> None:
        """Renew the lease where that is due; raise LeaseLost, or HandedBack where this process is to end."""
        if _stop_requested.is_set():
            raise HandedBack
        if self.clock() >= self.renew_at:
            self.renew()

    def check(self) -> None:
        """Raise LeaseLost unless the lease is still held; writes nothing."""
        require(self.held().exists())

    def renew(self) -> None:
        """Extend the lease to its full length from now; raise LeaseLost."""
        require(self.held().renew(until=self.clock() + timedelta(seconds=self.conf.lease_seconds)))
        self._schedule_renewal()

    def log(self, event: str, **facts: object) -> None:
        log_transition(
            event,
            media_id=self.version.media_id,
            version=self.version.number,
            attempt=self.version.attempts,
            **facts,
        )

    def _schedule_renewal(self) -> None:
        self.renew_at = self.clock() + timedelta(seconds=self.conf.lease_seconds / RENEWALS_PER_LEASE)


def require(written: bool) -> None:  # noqa: FBT001 - the answer of a guarded update
    """Raise LeaseLost unless the guarded update has found its row."""
    if not written:
        raise LeaseLost
