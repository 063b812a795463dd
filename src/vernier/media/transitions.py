"""Transitions: what is asked of Media and Versions, and what becomes of a Version, each as one guarded UPDATE.

It happens if the row is still in the state that it leaves and, for a worker, under its own unexpired lease.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Greatest

from vernier.media.exceptions import MediaNotFound

if TYPE_CHECKING:
    import uuid

    from vernier.media.child.protocol import Measured
    from vernier.media.conf import MediaSettings
    from vernier.media.models import Media, Version  # noqa: F401 - named as text in base classes

# A time that lies ahead by this much more than it can means that a clock went back. Less than this may come from a
# clock on another machine, or from a `now` that was read before a wait for the database.
CLOCK_SLACK = timedelta(seconds=60)
# A cache that could not be purged, or a store that did not delete, is tried again after so long.
CLEANUP_RETRY = timedelta(seconds=600)
# An original whose processing failed for a reason that may pass is kept so long, for "process again".
FAILED_ORIGINAL_KEPT = timedelta(days=7)

# Whose files are to be removed and may still be there, Media or Version. An index has these rows alone.
AWAITS_CLEAN_UP = Q(cleanup_at__isnull=False, cleaned_at=None)


class Status(models.TextChoices):
    """The states of a Version; to authors and readers pending and processing are one."""

    PENDING = "pending", "Pending"
    PROCESSING = "processing", "Processing"
    READY = "ready", "Ready"
    FAILED = "failed", "Failed"
    SUPERSEDED = "superseded", "Superseded"


class MediaQuerySet(models.QuerySet["Media"]):
    def live(self) -> MediaQuerySet:
        """Those that are not deleted."""
        return self.filter(deleted_at=None)

    def lock_own(self, media_id: uuid.UUID, *, owner_id: int) -> Media:
        """Return the owner's of this id, locked until the transaction ends; raise MediaNotFound for one not here."""
        media = self.select_for_update().filter(pk=media_id, owner_id=owner_id).first()
        if media is None:
            raise MediaNotFound(f"There is no image {media_id} of this author.")
        return media

    def to_clean_up(self, *, now: datetime) -> MediaQuerySet:
        """Those that are deleted and may still have files, which follow at once."""
        return self.filter(AWAITS_CLEAN_UP, _is_cleanup_due(now, latest=CLEANUP_RETRY))

    def refused(self) -> MediaQuerySet:
        """Those whose files could not be removed when it was tried."""
        return self.filter(AWAITS_CLEAN_UP, cleanup_failures__gt=0)


class VersionQuerySet(models.QuerySet["Version"]):
    def waiting(self, *, now: datetime, conf: MediaSettings) -> VersionQuerySet:
        """Those that are pending and due."""
        return self.filter(_is_waiting(now, conf))

    def abandoned(self, *, now: datetime, conf: MediaSettings) -> VersionQuerySet:
        """Those that are processing under a lease that has expired."""
        return self.filter(_is_abandoned(now, conf))

    def due(self, *, now: datetime, conf: MediaSettings) -> VersionQuerySet:
        """Those whose turn it is. For one Version; no index serves both halves at once."""
        return self.filter(_is_waiting(now, conf) | _is_abandoned(now, conf))

    def unfinished(self) -> VersionQuerySet:
        return self.filter(status__in=(Status.PENDING, Status.PROCESSING))

    def newest(self) -> VersionQuerySet:
        """Of each Media the last one that was accepted."""
        return self.filter(number=F("media__newest_number"))

    def newer_than(self, number: int) -> VersionQuerySet:
        return self.filter(number__gt=number)

    def to_clean_up(self, *, now: datetime, conf: MediaSettings) -> VersionQuerySet:
        """Those that have ended without being served, and may have files that nobody needs any more."""
        is_due = _is_cleanup_due(now, latest=_cleanup_latest(conf))
        return self.filter(AWAITS_CLEAN_UP, is_due, status__in=(Status.SUPERSEDED, Status.FAILED))

    def to_discard(self, *, now: datetime) -> VersionQuerySet:
        """Those that have ended and whose staged original is to be deleted by now."""
        return self.exclude(staging_key="").filter(_is_discard_due(now), staging_delete_at__isnull=False)

    def repeatable(self, *, now: datetime, conf: MediaSettings) -> VersionQuerySet:
        """Those that have failed and whose files nobody is about to remove."""
        is_kept = ~_is_cleanup_due(now, latest=_cleanup_latest(conf)) | Q(cleanup_at=None)
        kept = self.filter(is_kept, ~_is_discard_due(now), staging_delete_at__isnull=False)
        return kept.filter(status=Status.FAILED).exclude(staging_key="")

    def refused(self) -> VersionQuerySet:
        """Those whose files could not be removed when it was tried."""
        return self.filter(AWAITS_CLEAN_UP, cleanup_failures__gt=0)

    def held(self, *, token: uuid.UUID, now: datetime) -> VersionQuerySet:
        """Those under this lease, while it lasts. A worker writes through nothing else."""
        return self.filter(status=Status.PROCESSING, lease_token=token, lease_expires_at__gt=now)

    def claim(self, *, token: uuid.UUID, now: datetime, conf: MediaSettings) -> bool:
        """Take the lease and count the attempt; False where there is nothing to claim."""
        return bool(
            self.due(now=now, conf=conf)
            .filter(attempts__lt=conf.max_attempts)
            .update(
                status=Status.PROCESSING,
                lease_token=token,
                lease_expires_at=now + timedelta(seconds=conf.lease_seconds),
                attempts=F("attempts") + 1,
                next_attempt_at=None,
                claimed_at=now,
            )
        )

    # What follows is called on `held` rows: each is one guarded UPDATE, False where the lease is gone.

    def renew(self, *, until: datetime) -> bool:
        return bool(self.update(lease_expires_at=until))

    def measure(self, measured: Measured) -> bool:
        return bool(
            self.update(
                width=measured.size.width,
                height=measured.size.height,
                has_alpha=measured.has_alpha,
                placeholder=measured.placeholder,
            )
        )

    def progress(self, *, lease_until: datetime) -> bool:
        """Start the count of attempts again at the running one, and renew the lease."""
        return bool(self.update(attempts=1, strikes=0, lease_expires_at=lease_until))

    def requeue(self, *, now: datetime, at: datetime, failure: Failure, is_strike: bool) -> bool:
        """Put the Version back to pending until `at`; `failure` is what stopped the attempt."""
        return bool(
            self.update(
                **_NO_LEASE,
                status=Status.PENDING,
                next_attempt_at=at,
                failure_code=failure.code,
                failure_detail=failure.detail,
                strikes=self._next_strikes(failure) if is_strike else 0,
                requeued_at=now,
            )
        )

    @staticmethod
    def _next_strikes(failure: Failure) -> Case:
        """Count on where the last attempt ended in the same way, else from one."""
        return Case(When(failure_code=failure.code, then=F("strikes") + 1), default=Value(1))

    def hand_back(self, *, now: datetime) -> bool:
        """Put the Version back to pending at once, as if this attempt had not been."""
        return bool(
            self.update(
                **_NO_LEASE,
                status=Status.PENDING,
                attempts=Greatest(F("attempts") - 1, Value(0)),
                requeued_at=now,
            )
        )

    def finish(self, *, now: datetime, original_key: str) -> bool:
        """End the Version as Ready."""
        return bool(
            self.update(
                **_NO_LEASE,
                status=Status.READY,
                failure_code="",
                failure_detail="",
                ready_at=now,
                original_key=original_key,
                staging_delete_at=now,
            )
        )

    def fail(self, *, now: datetime, failure: Failure, keep_until: datetime, cleanup_at: datetime | None) -> bool:
        """End the Version as failed; its original stays until `keep_until`, renditions until `cleanup_at`."""
        return bool(
            self.update(
                **_NO_LEASE,
                status=Status.FAILED,
                next_attempt_at=None,
                failure_code=failure.code,
                failure_detail=failure.detail,
                failed_at=now,
                staging_delete_at=keep_until,
                cleanup_at=cleanup_at,
            )
        )

    # What follows is called with the Media row locked.

    def supersede(self, *, now: datetime) -> int:
        """End them in favour of a newer Version; who worked on them has no lease any more."""
        return self.update(**_NO_LEASE, status=Status.SUPERSEDED, next_attempt_at=None, superseded_at=now)

    def restart(self, *, now: datetime) -> int:
        """Put them back to pending as if they had just been accepted."""
        return self.update(
            status=Status.PENDING,
            attempts=0,
            strikes=0,
            failure_code="",
            failure_detail="",
            failed_at=None,
            superseded_at=None,
            staging_delete_at=None,
            cleanup_at=None,
            rung_at=now,
            rings=0,
        )


def _is_waiting(now: datetime, conf: MediaSettings) -> Q:
    """Return what is pending and due; a time further ahead than the longest delay means that a clock went back."""
    retry_max = now + timedelta(seconds=conf.backoff_max_seconds) + CLOCK_SLACK
    is_due = Q(next_attempt_at=None) | Q(next_attempt_at__lte=now) | Q(next_attempt_at__gt=retry_max)
    return Q(status=Status.PENDING) & is_due


def _is_abandoned(now: datetime, conf: MediaSettings) -> Q:
    """Return what is processing under an expired lease, or one that ends further ahead than a lease can."""
    lease_max = now + timedelta(seconds=conf.lease_seconds) + CLOCK_SLACK
    return Q(status=Status.PROCESSING) & (Q(lease_expires_at__lte=now) | Q(lease_expires_at__gt=lease_max))


def _is_cleanup_due(now: datetime, *, latest: timedelta) -> Q:
    """Return what is to be cleaned up; a time further ahead than the latest means that a clock went back."""
    return Q(cleanup_at__lte=now) | Q(cleanup_at__gt=now + latest + CLOCK_SLACK)


def _cleanup_latest(conf: MediaSettings) -> timedelta:
    return max(timedelta(seconds=conf.cleanup_grace_seconds), FAILED_ORIGINAL_KEPT, CLEANUP_RETRY)


def _is_discard_due(now: datetime) -> Q:
    """Return whose staged original is to be deleted, with the same rule."""
    return Q(staging_delete_at__lte=now) | Q(staging_delete_at__gt=now + FAILED_ORIGINAL_KEPT + CLOCK_SLACK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What stopped an attempt: a FailureCode (empty for what nobody foresaw), and a detail for the operator."""

    code: str
    detail: str


_NO_LEASE: dict[str, Any] = {"lease_token": None, "lease_expires_at": None}
