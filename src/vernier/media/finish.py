"""Finish: how an attempt ends. Ready, failed, back to pending, or handed back; each in one guarded transaction."""

from __future__ import annotations

import logging
import random
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction

from vernier.media.conf import media_settings
from vernier.media.exceptions import LeaseLost, PermanentError, ProcessingError, TransientError
from vernier.media.failures import FailureCode
from vernier.media.jobs import ring, ring_clean_up
from vernier.media.lease import Lease, require
from vernier.media.log import log_transition
from vernier.media.models import Media, Version
from vernier.media.signals import send_on_commit, version_failed, version_ready
from vernier.media.storages import originals_storage, sha256_of, staging_storage
from vernier.media.supersede import (
    lock_media,
    restore_predecessor,
    retire,
    supersede_older,
    supersede_unfinished,
)
from vernier.media.transitions import FAILED_ORIGINAL_KEPT, Failure, VersionQuerySet

if TYPE_CHECKING:
    from vernier.media.conf import MediaSettings

logger = logging.getLogger("vernier.media")

FAILURE_DETAIL_CHARACTERS_MAX = 500
# No later attempt finds what is not there; but a disk that was not mounted has it again one day.
_MAY_COME_BACK = {FailureCode.ORIGINAL_LOST}


def finish(lease: Lease) -> None:
    """Make the Version Ready and the one that is served; raise LeaseLost where it is not to be any more."""
    version = lease.version
    original_key = _keep_original(version) if lease.conf.keep_originals else ""
    with transaction.atomic():
        media = lock_media(version.media_id)
        if media.deleted_at is not None or version.missing_variants() != ():
            raise LeaseLost
        now = lease.clock()
        is_newest = media.current_id is None or media.versions.get(pk=media.current_id).number < version.number
        if is_newest:
            supersede_older(version, now=now, conf=lease.conf)
            require(lease.held().finish(now=now, original_key=original_key))
            Media.objects.filter(pk=media.pk).update(current=version)
            send_on_commit(version_ready, version)
        else:
            require(bool(lease.held().supersede(now=now)))
            retire(version, now=now, conf=lease.conf)
    lease.log("ready" if is_newest else "superseded")
    for ended in media.versions.exclude(staging_key="").filter(staging_delete_at=now):
        discard_staged(ended)


def fail(lease: Lease, error: ProcessingError) -> None:
    """End the Version as failed; its original goes at once where trying again can change nothing."""
    now, is_final = lease.clock(), isinstance(error, PermanentError) and error.code not in _MAY_COME_BACK
    failure = Failure(code=error.code, detail=error.detail)
    keep_until = now if is_final else now + FAILED_ORIGINAL_KEPT
    if not end_failed(lease.held(), lease.version, failure, now=now, keep_until=keep_until):
        lease.log("lease lost")
        return
    lease.log("failed", code=failure.code, detail=failure.detail)
    if is_final:
        discard_staged(lease.version)


def end_failed(
    rows: VersionQuerySet, version: Version, failure: Failure, *, now: datetime, keep_until: datetime
) -> bool:
    """Fail the Version if it is among `rows`, and give an older unfinished one its turn; return whether it was."""
    with transaction.atomic():
        lock_media(version.media_id)
        cleanup_at = keep_until if version.renditions.exists() else None
        failed = rows.filter(pk=version.pk).fail(
            now=now, failure=_bounded(failure), keep_until=keep_until, cleanup_at=cleanup_at
        )
        if not failed:
            return False
        if cleanup_at is not None:
            ring_clean_up(version, at=cleanup_at)
        restore_predecessor(version, now=now)
        send_on_commit(version_failed, version)
    return True


def retry(lease: Lease, error: TransientError) -> None:
    """Put the Version back for another attempt, or fail it where this kind of failure has had its tries."""
    is_strike = error.tries_max is not None
    strikes = lease.version.strikes if lease.version.failure_code == error.code else 0
    has_struck_out = error.tries_max is not None and strikes + 1 >= error.tries_max
    if has_struck_out or lease.version.attempts >= lease.conf.max_attempts:
        fail(lease, error)
    else:
        requeue(lease, Failure(code=error.code, detail=error.detail), is_strike=is_strike)


def requeue(lease: Lease, failure: Failure, *, is_strike: bool) -> None:
    """Put the Version back to pending after a delay, with a job for that time."""
    now = lease.clock()
    at = now + backoff(lease.version.attempts, lease.conf)
    failure = _bounded(failure)
    with transaction.atomic():
        if not lease.held().requeue(now=now, at=at, failure=failure, is_strike=is_strike):
            lease.log("lease lost")
            return
        ring(lease.version, at=at)
    lease.log("requeued", code=failure.code, detail=failure.detail, at=at.isoformat())


def hand_back(lease: Lease) -> None:
    """Put the Version back to pending at once and uncounted: this worker was told to stop."""
    with transaction.atomic():
        if not lease.held().hand_back(now=lease.clock()):
            lease.log("lease lost")
            return
        ring(lease.version)
    lease.log("handed back")


def backoff(attempts: int, conf: MediaSettings) -> timedelta:
    """Return the delay after so many attempts: doubled each time, up to the maximum, less a random part.

    The random part, up to half, keeps jobs that failed together from coming back together.
    """
    longest = min(conf.backoff_max_seconds, conf.backoff_seconds * 2 ** min(attempts - 1, 30))
    return timedelta(seconds=longest * random.uniform(0.5, 1.0))  # noqa: S311 - spreads load, protects nothing


def process_again(version: Version, *, now: datetime) -> bool:
    """Give a failed Version a fresh start; return whether that was possible.

    It is where the failure may pass (its original is still staged) and nothing newer has been accepted.
    """
    with transaction.atomic():
        media = lock_media(version.media_id)
        newest = Version.objects.filter(pk=version.pk, number=media.newest_number)
        failed = newest.repeatable(now=now, conf=media_settings())
        again = media.deleted_at is None and failed.exists()
        if again:
            # The one that has got its turn when this one failed loses it again.
            supersede_unfinished(media, now=now)
            failed.restart(now=now)
            ring(version)
    if again:
        log_transition("started again", media_id=version.media_id, version=version.number, attempt=0)
    return again


def discard_staged(version: Version) -> None:
    """Delete the staged original of a Version that has ended, then its key; what fails here is done by reconcile."""
    if not version.staging_key:
        return
    try:
        staging_storage().delete(version.staging_key)
    except OSError:
        logger.exception("staged original not deleted media=%s version=%d", version.media_id, version.number)
        return
    Version.objects.filter(pk=version.pk, staging_key=version.staging_key).update(staging_key="")


def _keep_original(version: Version) -> str:
    """Copy the original to its store and return its key, or nothing where the staged file is gone."""
    storage = originals_storage()
    for name in ("original", f"original.{version.attempts}"):
        key = version.key_for(name, version.extension)
        try:
            with staging_storage().open(version.staging_key) as staged:
                key = storage.save(key, staged)
        except FileNotFoundError:
            return ""
        except FileExistsError:
            # An earlier attempt made it, or it is something else: its checksum tells.
            pass
        with storage.open(key) as kept:
            if sha256_of(kept) == version.sha256:
                return key
    raise TransientError(FailureCode.STORAGE_UNAVAILABLE, f"{key} holds other bytes than the original")


def _bounded(failure: Failure) -> Failure:
    return replace(failure, detail=failure.detail[:FAILURE_DETAIL_CHARACTERS_MAX])
