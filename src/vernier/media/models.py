"""The rows: Media, its Versions, their Renditions, and the keys that make a client's retry safe.

A state lives in the row. Every transition is one guarded UPDATE: it happens if the row is still in the state that
it leaves and, for a worker, under its own unexpired lease.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Greatest

from vernier.media.failures import FailureCode
from vernier.media.sniff import IMAGE_TYPES
from vernier.media.variants import EXTENSIONS, MEDIA_TYPES, Size, Variant, required_variants

if TYPE_CHECKING:
    from vernier.media.conf import MediaSettings

SHA256_HEX_LENGTH = 64


class MediaQuerySet(models.QuerySet["Media"]):
    def live(self) -> MediaQuerySet:
        """Those that are not deleted."""
        return self.filter(deleted_at=None)

    def to_clean_up(self, *, now: datetime) -> MediaQuerySet:
        """Those that are deleted and may still have files."""
        return self.filter(cleanup_at__lte=now, cleaned_at=None)


class Media(models.Model):
    """A logical image: its identity stays while its Versions change."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="media")
    # The Version that is served; none until the first is Ready.
    current = models.ForeignKey("Version", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    newest_number = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    # The tombstone; from when on its files are to be removed, and when the last of them was.
    deleted_at = models.DateTimeField(null=True, blank=True)
    cleanup_at = models.DateTimeField(null=True, blank=True)
    cleaned_at = models.DateTimeField(null=True, blank=True)

    objects = MediaQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "media"
        constraints = [
            models.CheckConstraint(
                condition=Q(deleted_at=None) | Q(current=None), name="media_deleted_serves_nothing"
            ),
        ]
        indexes = [
            models.Index(
                fields=["cleanup_at"],
                name="media_to_clean_up",
                condition=Q(cleanup_at__isnull=False, cleaned_at=None),
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


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
        return self.filter(status__in=(Version.Status.PENDING, Version.Status.PROCESSING))

    def to_clean_up(self, *, now: datetime) -> VersionQuerySet:
        """Those that have ended without being served, and may have files that nobody needs any more."""
        ended = (Version.Status.SUPERSEDED, Version.Status.FAILED)
        return self.filter(cleanup_at__lte=now, cleaned_at=None, status__in=ended)

    def held(self, *, token: uuid.UUID, now: datetime) -> VersionQuerySet:
        """Those under this lease, while it lasts. A worker writes through nothing else."""
        return self.filter(status=Version.Status.PROCESSING, lease_token=token, lease_expires_at__gt=now)

    def claim(self, *, token: uuid.UUID, now: datetime, conf: MediaSettings) -> bool:
        """Take the lease and count the attempt; False where there is nothing to claim."""
        return bool(
            self.due(now=now, conf=conf)
            .filter(attempts__lt=conf.max_attempts)
            .update(
                status=Version.Status.PROCESSING,
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

    def measure(self, *, size: Size, has_alpha: bool) -> bool:
        return bool(self.update(width=size.width, height=size.height, has_alpha=has_alpha))

    def progress(self, *, lease_until: datetime) -> bool:
        """Start the count of attempts again at the running one, and renew the lease."""
        return bool(self.update(attempts=1, strikes=0, lease_expires_at=lease_until))

    def requeue(self, *, now: datetime, at: datetime, failure: Failure, is_strike: bool) -> bool:
        """Put the Version back to pending until `at`; `failure` is what stopped the attempt."""
        return bool(
            self.update(
                **_NO_LEASE,
                status=Version.Status.PENDING,
                next_attempt_at=at,
                failure_code=failure.code,
                failure_detail=failure.detail,
                strikes=F("strikes") + int(is_strike),
                requeued_at=now,
            )
        )

    def hand_back(self, *, now: datetime) -> bool:
        """Put the Version back to pending at once, as if this attempt had not been."""
        return bool(
            self.update(
                **_NO_LEASE,
                status=Version.Status.PENDING,
                attempts=Greatest(F("attempts") - 1, Value(0)),
                requeued_at=now,
            )
        )

    def finish(self, *, now: datetime, original_key: str) -> bool:
        """End the Version as Ready."""
        return bool(
            self.update(
                **_NO_LEASE,
                status=Version.Status.READY,
                failure_code="",
                failure_detail="",
                ready_at=now,
                original_key=original_key,
                staging_delete_at=now,
            )
        )

    def fail(self, *, now: datetime, failure: Failure, keep_until: datetime) -> bool:
        """End the Version as failed; its original and what renditions it has stay until `keep_until`."""
        return bool(
            self.update(
                **_NO_LEASE,
                status=Version.Status.FAILED,
                next_attempt_at=None,
                failure_code=failure.code,
                failure_detail=failure.detail,
                failed_at=now,
                staging_delete_at=keep_until,
                cleanup_at=keep_until,
            )
        )

    # What follows is called with the Media row locked.

    def supersede(self, *, now: datetime) -> int:
        """End them in favour of a newer Version; who worked on them has no lease any more."""
        return self.update(**_NO_LEASE, status=Version.Status.SUPERSEDED, next_attempt_at=None, superseded_at=now)

    def restart(self, *, now: datetime) -> int:
        """Put them back to pending as if they had just been accepted."""
        return self.update(
            status=Version.Status.PENDING,
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
    retry_max = now + timedelta(seconds=conf.backoff_max_seconds)
    is_due = Q(next_attempt_at=None) | Q(next_attempt_at__lte=now) | Q(next_attempt_at__gt=retry_max)
    return Q(status=Version.Status.PENDING) & is_due


def _is_abandoned(now: datetime, conf: MediaSettings) -> Q:
    """Return what is processing under an expired lease, or one that ends further ahead than a lease can."""
    lease_max = now + timedelta(seconds=conf.lease_seconds)
    return Q(status=Version.Status.PROCESSING) & (Q(lease_expires_at__lte=now) | Q(lease_expires_at__gt=lease_max))


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What stopped an attempt: a FailureCode (empty for what nobody foresaw), and a detail for the operator."""

    code: str
    detail: str


_NO_LEASE: dict[str, Any] = {"lease_token": None, "lease_expires_at": None}


class Version(models.Model):
    """One accepted original of a Media."""

    class Status(models.TextChoices):
        PENDING = "pending", "Pending"
        PROCESSING = "processing", "Processing"
        READY = "ready", "Ready"
        FAILED = "failed", "Failed"
        SUPERSEDED = "superseded", "Superseded"

    media = models.ForeignKey(Media, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)

    # The original: what arrived, where it waits, and from when on the staged file is to be deleted.
    sha256 = models.CharField(max_length=SHA256_HEX_LENGTH)
    byte_size = models.PositiveBigIntegerField()
    image_type = models.CharField(max_length=8, choices={name: name for name in IMAGE_TYPES})
    extension = models.CharField(max_length=8)
    staging_key = models.CharField(max_length=255, blank=True)
    staging_delete_at = models.DateTimeField(null=True, blank=True)
    original_key = models.CharField(max_length=255, blank=True)

    # From when on the files of a superseded Version are to be removed, and when the last of them was.
    cleanup_at = models.DateTimeField(null=True, blank=True)
    cleaned_at = models.DateTimeField(null=True, blank=True)

    # What is made of it: the definitions in force at acceptance, and what the decoder found.
    variants = models.JSONField()
    width = models.PositiveIntegerField(null=True, blank=True)
    height = models.PositiveIntegerField(null=True, blank=True)
    has_alpha = models.BooleanField(null=True, blank=True)

    # The work: claims since the last progress, those of them that ended in the decoder, and the lease.
    attempts = models.PositiveIntegerField(default=0)
    strikes = models.PositiveIntegerField(default=0)
    lease_token = models.UUIDField(null=True, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    # When a job was last enqueued by accept or reconcile, and how often by reconcile.
    rung_at = models.DateTimeField()
    rings = models.PositiveIntegerField(default=0)

    # What ended it or, while it is pending, what stopped the last attempt.
    failure_code = models.CharField(max_length=24, choices=FailureCode.choices, blank=True)
    failure_detail = models.TextField(blank=True)

    accepted_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True, blank=True)
    requeued_at = models.DateTimeField(null=True, blank=True)
    ready_at = models.DateTimeField(null=True, blank=True)
    failed_at = models.DateTimeField(null=True, blank=True)
    superseded_at = models.DateTimeField(null=True, blank=True)

    objects = VersionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["media", "number"], name="version_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="version_number_from_one"),
            models.CheckConstraint(
                condition=Q(status="processing", lease_token__isnull=False, lease_expires_at__isnull=False)
                | ~Q(status="processing") & Q(lease_token=None, lease_expires_at=None),
                name="version_lease_while_processing",
            ),
            models.CheckConstraint(
                condition=~Q(status="ready") | Q(ready_at__isnull=False, width__isnull=False),
                name="version_ready_is_measured",
            ),
            models.CheckConstraint(
                condition=~Q(status="failed") | ~Q(failure_code="") & Q(failed_at__isnull=False),
                name="version_failed_has_reason",
            ),
        ]
        indexes = [
            # Work in flight, whatever the size of the archive.
            models.Index(fields=["next_attempt_at"], name="version_pending", condition=Q(status="pending")),
            models.Index(fields=["lease_expires_at"], name="version_processing", condition=Q(status="processing")),
            models.Index(
                fields=["staging_delete_at"],
                name="version_staging_due",
                condition=~Q(staging_key="") & Q(staging_delete_at__isnull=False),
            ),
            models.Index(fields=["staging_key"], name="version_staged", condition=~Q(staging_key="")),
            models.Index(
                fields=["cleanup_at"],
                name="version_to_clean_up",
                condition=Q(cleanup_at__isnull=False, cleaned_at=None),
            ),
            models.Index(fields=["-failed_at"], name="version_failed", condition=Q(status="failed")),
        ]

    def __str__(self) -> str:
        return f"{self.media_id} v{self.number}"

    @property
    def recipes(self) -> tuple[Variant, ...]:
        """The variant definitions that this Version was accepted with."""
        return tuple(Variant.from_json(stored) for stored in self.variants)

    @property
    def size(self) -> Size | None:
        """Width and height of the upright original, once it was decoded."""
        if self.width is None or self.height is None:
            return None
        return Size(width=self.width, height=self.height)

    @property
    def required(self) -> tuple[Variant, ...] | None:
        """The variants that Ready takes, once the original was decoded."""
        return None if self.size is None else required_variants(self.recipes, self.size)

    def missing_variants(self) -> tuple[Variant, ...] | None:
        """Return the required variants that have no rendition yet, or None before the original was decoded."""
        if self.required is None:
            return None
        made = set(self.renditions.values_list("variant", flat=True))
        return tuple(variant for variant in self.required if variant.name not in made)

    @property
    def directory(self) -> str:
        """The common start of the keys of all files of this Version."""
        return f"{media_directory(self.media_id)}/v{self.number}"

    def key_for(self, name: str, extension: str) -> str:
        """Return the deterministic key of a file of this Version, which serves as its URL path too."""
        return f"{self.directory}/{name}.{extension}"


def media_directory(media_id: uuid.UUID) -> str:
    """Return the common start of the keys of all files of a Media."""
    return f"images/{media_id}"


class Rendition(models.Model):
    """Exists exactly when its file is durable and verified."""

    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="renditions")
    variant = models.CharField(max_length=64)
    format = models.CharField(max_length=8, choices={name: name for name in EXTENSIONS})
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    byte_size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=SHA256_HEX_LENGTH)
    storage_key = models.CharField(max_length=255, unique=True)
    created_at = models.DateTimeField()
    # When the file was found missing or damaged, and could not be made anew.
    lost_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "variant"], name="rendition_once_per_variant"),
        ]

    def __str__(self) -> str:
        return self.storage_key

    @property
    def extension(self) -> str:
        return EXTENSIONS[self.format]  # type: ignore[index]

    @property
    def media_type(self) -> str:
        return MEDIA_TYPES[self.format]  # type: ignore[index]


class UploadKey(models.Model):
    """A client's Idempotency-Key, and the Version that it stands for, which need not exist any more."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    operation = models.CharField(max_length=16)
    target = models.CharField(max_length=36, blank=True)
    key = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=SHA256_HEX_LENGTH)
    media = models.ForeignKey(Media, on_delete=models.CASCADE, related_name="+")
    number = models.PositiveIntegerField()
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "operation", "target", "key"], name="upload_key_once"),
        ]

    def __str__(self) -> str:
        return self.key


class Sighting(models.Model):
    """A file that no row names, and when it was first seen: the sweep removes what it sees again a grace later."""

    store = models.CharField(max_length=16)
    key = models.CharField(max_length=255)
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["store", "key"], name="sighting_once")]

    def __str__(self) -> str:
        return f"{self.store}:{self.key}"


class Blob(models.Model):
    """A file of `storages.DatabaseStorage`."""

    key = models.CharField(primary_key=True, max_length=255)
    content = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.key
