"""The rows: Media, its Versions, their Renditions, and the keys that make a client's retry safe.

A state lives in the row; what is asked of rows, and their transitions, are in `transitions`.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from vernier.media.failures import FailureCode
from vernier.media.keys import media_directory
from vernier.media.sniff import IMAGE_TYPES
from vernier.media.transitions import AWAITS_CLEAN_UP, MediaQuerySet, Status, VersionQuerySet
from vernier.media.variants import EXTENSIONS, MEDIA_TYPES, Size, Variant, required_variants

SHA256_HEX_LENGTH = 64
# A # and two hexadecimal digits each for red, green and blue.
COLOUR_LENGTH = 7


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
    cleanup_failures = models.PositiveIntegerField(default=0)
    cleaned_at = models.DateTimeField(null=True, blank=True)
    # When a job for the clean-up was last enqueued, and how often by reconcile.
    rung_at = models.DateTimeField(null=True, blank=True)
    rings = models.PositiveIntegerField(default=0)

    objects = MediaQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "media"
        constraints = [
            models.CheckConstraint(
                condition=Q(deleted_at=None) | Q(current=None), name="media_deleted_serves_nothing"
            ),
        ]
        indexes = [
            models.Index(fields=["created_at", "id"], name="media_newest_first"),
            # An author's own list.
            models.Index(fields=["owner", "-created_at", "-id"], name="media_of_owner", condition=Q(deleted_at=None)),
            models.Index(fields=["cleanup_at"], name="media_to_clean_up", condition=AWAITS_CLEAN_UP),
        ]

    def __str__(self) -> str:
        return str(self.id)


_VersionManager = models.Manager.from_queryset(VersionQuerySet)


class VersionManager(_VersionManager["Version"]):
    def get_queryset(self) -> VersionQuerySet:
        """Return all without their tokens: the database alone compares those, and damage to one stops nobody."""
        return VersionQuerySet(self.model, using=self._db).defer("lease_token")


class Version(models.Model):
    """One accepted original of a Media."""

    Status = Status

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
    cleanup_failures = models.PositiveIntegerField(default=0)
    cleaned_at = models.DateTimeField(null=True, blank=True)

    # What is made of it: the definitions in force at acceptance, and what the decoder found.
    variants = models.JSONField()
    width = models.PositiveIntegerField(null=True, blank=True)
    height = models.PositiveIntegerField(null=True, blank=True)
    has_alpha = models.BooleanField(null=True, blank=True)
    # Its average colour, like `#a1b2c3`: what a page shows before the picture has loaded.
    placeholder = models.CharField(max_length=COLOUR_LENGTH, blank=True)

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
    # When the first of its renditions was given up that are not there again: its author has been told.
    lost_at = models.DateTimeField(null=True, blank=True)

    objects = VersionManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["media", "number"], name="version_number_once"),
            models.UniqueConstraint(fields=["media"], name="version_one_is_ready", condition=Q(status="ready")),
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
            models.Index(fields=["cleanup_at"], name="version_to_clean_up", condition=AWAITS_CLEAN_UP),
            # Counts by state, and lists of one state.
            models.Index(fields=["status", "id"], name="version_status"),
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
    def is_settled(self) -> bool:
        """Whether no worker can ever work on it: Ready stays Ready, and without an original none starts."""
        if self.status in {self.Status.PENDING, self.Status.PROCESSING}:
            return False
        return self.ready_at is not None or not self.staging_key

    @property
    def awaits_clean_up(self) -> bool:
        """Whether the removal of its files is the business of a clean-up that has not ended."""
        return any(row.cleanup_at is not None and row.cleaned_at is None for row in (self, self.media))

    @property
    def directory(self) -> str:
        """The common start of the keys of all files of this Version."""
        return f"{media_directory(self.media_id)}/v{self.number}"

    def key_for(self, name: str, extension: str) -> str:
        """Return the deterministic key of a file of this Version, which serves as its URL path too."""
        return f"{self.directory}/{name}.{extension}"


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


class Outcome(models.TextChoices):
    """What an accepted upload has come to."""

    CREATED = "created", "Created"
    # The newest Version has these very bytes.
    UNCHANGED = "unchanged", "Unchanged"


class UploadKey(models.Model):
    """A client's Idempotency-Key, and its answer: the Version that it stands for need not exist any more."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    operation = models.CharField(max_length=16)
    target = models.CharField(max_length=36, blank=True)
    key = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=SHA256_HEX_LENGTH)
    media = models.ForeignKey(Media, on_delete=models.CASCADE, related_name="+")
    number = models.PositiveIntegerField()
    outcome = models.CharField(max_length=9, choices=Outcome.choices, default=Outcome.CREATED)
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
