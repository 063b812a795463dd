"""Record: the rows and the job of an upload whose bytes are durable, in one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction

from vernier.media.exceptions import UploadKeyReused
from vernier.media.jobs import ring
from vernier.media.models import Media, Outcome, UploadKey, Version
from vernier.media.storages import staging_storage
from vernier.media.supersede import supersede_unfinished

if TYPE_CHECKING:
    from uuid import UUID

    from vernier.media.conf import MediaSettings
    from vernier.media.sniff import ImageType


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The answer to an upload: which Version it is, and how it came to be that.

    It `is_repeated` where the same Idempotency-Key with the same bytes was answered before: with this very answer.
    """

    media_id: UUID
    number: int
    outcome: Outcome
    is_repeated: bool = False

    @property
    def created(self) -> bool:
        """Whether this very upload has made the Version."""
        return self.outcome is Outcome.CREATED and not self.is_repeated


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The bytes of an upload, durable in the staging store."""

    staging_key: str
    sha256: str
    byte_size: int
    image_type: ImageType


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadRequest:
    """Who uploads what for: a new Media, or a new Version of the one that it `replaces`.

    With `remakes`, the number of a Version, that one's own bytes are to make a new one.
    """

    owner_id: int
    replaces: UUID | None
    key: str | None
    remakes: int | None
    now: datetime

    @property
    def operation(self) -> str:
        """The word in the row of the Idempotency-Key."""
        return "create" if self.replaces is None else "replace"

    @property
    def target(self) -> str:
        """What the Idempotency-Key is for, beside the operation."""
        return "" if self.replaces is None else str(self.replaces)


def record(request: UploadRequest, original: Original, conf: MediaSettings) -> Accepted:
    """Write what the upload changes and enqueue its job; where it changes nothing, the answer says so.

    Raises MediaNotFound, UploadKeyReused, and RuntimeError within a transaction, which could take it back.
    """
    try:
        with transaction.atomic(durable=True):
            return _record(request, original, conf)
    except IntegrityError:
        # Where writers do not wait for each other, two uploads with one key meet at its constraint.
        winner = _earlier(request, original, conf)
        if winner is None:
            raise
        return winner


def _record(request: UploadRequest, original: Original, conf: MediaSettings) -> Accepted:
    live = Media.objects.live()
    media = None if request.replaces is None else live.lock_own(request.replaces, owner_id=request.owner_id)
    earlier = _earlier(request, original, conf)
    if earlier is not None:
        return earlier
    accepted = _unchanged(media, request, original) or _insert(media, request, original, conf)
    if request.key is not None:
        UploadKey.objects.create(
            owner_id=request.owner_id,
            operation=request.operation,
            target=request.target,
            key=request.key,
            sha256=original.sha256,
            media_id=accepted.media_id,
            number=accepted.number,
            outcome=accepted.outcome,
            created_at=request.now,
        )
    return accepted


def _earlier(request: UploadRequest, original: Original, conf: MediaSettings) -> Accepted | None:
    """Return the answer that this key was given before; raise UploadKeyReused where the bytes differ."""
    if request.key is None:
        return None
    known = UploadKey.objects.filter(
        owner_id=request.owner_id, operation=request.operation, target=request.target, key=request.key
    ).first()
    if known is None:
        return None
    if known.created_at <= request.now - timedelta(seconds=conf.upload_key_seconds):
        known.delete()
        return None
    if known.sha256 != original.sha256:
        raise UploadKeyReused("This Idempotency-Key was used for other bytes; use a new key for a new file.")
    outcome = Outcome(known.outcome)
    return Accepted(media_id=known.media_id, number=known.number, outcome=outcome, is_repeated=True)


def _unchanged(media: Media | None, request: UploadRequest, original: Original) -> Accepted | None:
    """Return the newest Version where the upload changes nothing."""
    if media is None or _is_to_remake(media, request):
        return None
    newest = media.versions.get(number=media.newest_number)
    if not (newest.sha256 == original.sha256 and _is_whole(newest)) and request.remakes is None:
        return None
    return Accepted(media_id=media.pk, number=newest.number, outcome=Outcome.UNCHANGED)


def _is_whole(version: Version) -> bool:
    """Whether nothing of the Version is lost; after a restore, staging has no file of what was in flight."""
    if version.status == Version.Status.FAILED or version.renditions.exclude(lost_at=None).exists():
        return False
    return version.status == Version.Status.READY or staging_storage().exists(version.staging_key)


def _is_to_remake(media: Media, request: UploadRequest) -> bool:
    if request.remakes is None:
        return False
    return not media.versions.newer_than(request.remakes).exclude(status=Version.Status.FAILED).exists()


def _insert(media: Media | None, request: UploadRequest, original: Original, conf: MediaSettings) -> Accepted:
    now = request.now
    if media is None:
        media = Media.objects.create(owner_id=request.owner_id, newest_number=1, created_at=now)
    else:
        supersede_unfinished(media, now=now)
        media.newest_number += 1
        media.save(update_fields=["newest_number"])
    version = Version.objects.create(
        media=media,
        number=media.newest_number,
        sha256=original.sha256,
        byte_size=original.byte_size,
        image_type=original.image_type.name,
        extension=original.image_type.extension,
        staging_key=original.staging_key,
        variants=[variant.to_json() for variant in conf.variants],
        accepted_at=now,
        rung_at=now,
    )
    ring(version)
    return Accepted(media_id=media.pk, number=version.number, outcome=Outcome.CREATED)
