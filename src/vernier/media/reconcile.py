"""Reconcile: make rows and jobs agree again, whatever was lost between them.

Runs at start and periodically. Every query goes by a partial index over the work in flight, and every step takes a
bounded batch: the cost does not grow with the archive. Nothing is written where nothing is wrong.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from vernier.media.conf import MediaSettings, media_settings
from vernier.media.failures import FailureCode
from vernier.media.finish import discard_staged, end_failed
from vernier.media.jobs import ring, ring_clean_up, ring_clean_up_media
from vernier.media.log import log_transition
from vernier.media.models import Media, UploadKey, Version
from vernier.media.transitions import FAILED_ORIGINAL_KEPT, Failure

if TYPE_CHECKING:
    from django.db.models import QuerySet

logger = logging.getLogger("vernier.media")

# Rows of each kind that one run takes; what is left is the next run's.
BATCH_ROWS = 500
# Beyond this many rings the interval between them does not grow further.
RING_DOUBLINGS_MAX = 10

LiveJobs = Collection[tuple[UUID, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """How much of each kind one run has found and put right."""

    rung: int
    spent: int
    discarded: int
    cleanups: int
    forgotten_keys: int


def reconcile(now: datetime | None = None) -> Reconciled:
    """Enqueue lost work again, fail what has spent its attempts, finish overdue clean-ups; return the counts."""
    now, conf = now or timezone.now(), media_settings()
    return Reconciled(
        spent=fail_spent(now, conf),
        rung=ring_lost(now, conf),
        discarded=discard_overdue(now),
        cleanups=ring_overdue_cleanups(now, conf),
        forgotten_keys=forget_keys(now, conf),
    )


def fail_spent(now: datetime, conf: MediaSettings) -> int:
    """Fail the Versions whose attempts are spent and whose last worker is gone; return how many."""
    spent = (version for version in _due(now, conf) if version.attempts >= conf.max_attempts)
    return sum(_fail_one_spent(version, now, conf) for version in list(islice(spent, BATCH_ROWS)))


def ring_lost(now: datetime, conf: MediaSettings) -> int:
    """Enqueue a job for each claimable Version that has none; return how many.

    Where the task engine cannot say which jobs are live, a Version is rung again at a doubling interval instead: a
    job too many does nothing, a flood of them would.
    """
    lost = list(islice(find_lost(now, conf), BATCH_ROWS))
    for version in lost:
        _ring_again(version, now)
    return len(lost)


def find_lost(now: datetime, conf: MediaSettings) -> Iterator[Version]:
    """Yield the claimable Versions that no live job will claim."""
    ask = cache(partial(live_jobs, conf))
    for version in _due(now, conf):
        if version.attempts < conf.max_attempts and is_lost(version, ask(), now, conf):
            yield version


def discard_overdue(now: datetime) -> int:
    """Delete the staged originals of ended Versions whose time has come; return how many there were."""
    overdue = list(Version.objects.to_discard(now=now)[:BATCH_ROWS])
    for version in overdue:
        discard_staged(version)
    return len(overdue)


def ring_overdue_cleanups(now: datetime, conf: MediaSettings) -> int:
    """Enqueue a job for each clean-up whose own is overdue, at a doubling interval; return how many."""
    versions = Version.objects.to_clean_up(now=now, conf=conf).filter(media__deleted_at=None)
    unheard: list[Version | Media] = [
        *_first_unheard(versions, now, conf),
        *_first_unheard(Media.objects.to_clean_up(now=now), now, conf),
    ]
    for row in unheard:
        _ring_clean_up(row, rung_at=now, rings=row.rings + 1)
    return len(unheard)


def retry_refused_cleanups(now: datetime) -> int:
    """Have what could not be removed tried at once instead of when its time comes; return how many."""
    versions = Version.objects.refused().filter(media__deleted_at=None)[:BATCH_ROWS]
    refused = (*versions, *Media.objects.refused()[:BATCH_ROWS])
    for row in refused:
        _ring_clean_up(row, cleanup_at=now, rung_at=now)
    return len(refused)


def forget_keys(now: datetime, conf: MediaSettings) -> int:
    """Delete the Idempotency-Keys that have outlived their retention."""
    old = UploadKey.objects.filter(created_at__lte=now - timedelta(seconds=conf.upload_key_seconds))
    keys = list(old.order_by("created_at").values_list("pk", flat=True)[:BATCH_ROWS])
    if keys:
        UploadKey.objects.filter(pk__in=keys).delete()
    return len(keys)


def _due(now: datetime, conf: MediaSettings) -> Iterator[Version]:
    """Yield all that is due, a batch at a time: the lost ones may be behind many that only wait for a worker."""
    yield from Version.objects.waiting(now=now, conf=conf).iterator(chunk_size=BATCH_ROWS)
    yield from Version.objects.abandoned(now=now, conf=conf).iterator(chunk_size=BATCH_ROWS)


def _fail_one_spent(version: Version, now: datetime, conf: MediaSettings) -> bool:
    failure = Failure(
        code=FailureCode.ATTEMPTS_SPENT,
        detail=f"{version.attempts} attempts; the last known reason: {version.failure_code or 'none'}",
    )
    spent = Version.objects.due(now=now, conf=conf).filter(attempts__gte=conf.max_attempts)
    failed = end_failed(spent, version, failure, now=now, keep_until=now + FAILED_ORIGINAL_KEPT)
    if failed:
        _log("failed", version, code=failure.code)
    return failed


def live_jobs(conf: MediaSettings) -> LiveJobs | None:
    """Return which Versions have a job that waits or runs, or None where the task engine cannot say."""
    if conf.live_jobs is None:
        return None
    ask: Callable[[], LiveJobs] = import_string(conf.live_jobs)
    return ask()


def is_lost(version: Version, live: LiveJobs | None, now: datetime, conf: MediaSettings) -> bool:
    """Tell whether no job will claim the Version, as far as the live jobs or its last ring tell."""
    if live is not None:
        return (version.media_id, version.number) not in live
    return is_unheard(version, now, conf)


def _first_unheard[Row: (Version, Media)](rows: QuerySet[Row], now: datetime, conf: MediaSettings) -> list[Row]:
    """Return a batch of those to ring again: they may be behind many that only wait for a worker."""
    found = (row for row in rows.iterator(chunk_size=BATCH_ROWS) if is_unheard(row, now, conf))
    return list(islice(found, BATCH_ROWS))


def is_unheard(row: Version | Media, now: datetime, conf: MediaSettings) -> bool:
    """Tell whether the last job for the row was enqueued so long ago that another one does no harm."""
    interval = conf.reconcile_seconds * 2 ** min(row.rings, RING_DOUBLINGS_MAX)
    # A time in the future means that a clock went back.
    return row.rung_at is None or not now - timedelta(seconds=interval) < row.rung_at <= now


def _ring_again(version: Version, now: datetime) -> None:
    with transaction.atomic():
        Version.objects.filter(pk=version.pk).update(rung_at=now, rings=version.rings + 1)
        ring(version)
    _log("rung again", version)


def _ring_clean_up(row: Version | Media, **changed: object) -> None:
    with transaction.atomic():
        type(row).objects.filter(pk=row.pk).update(**changed)
        if isinstance(row, Version):
            ring_clean_up(row)
        else:
            ring_clean_up_media(row)


def _log(event: str, version: Version, **facts: object) -> None:
    log_transition(event, media_id=version.media_id, version=version.number, attempt=version.attempts, **facts)
