"""Accept: from the bytes of an upload to a Version that will be processed, whatever happens next.

The bytes come first: they are hashed on their way into the staging store and durable there before any row. Then one
transaction writes the rows and enqueues the job; when it has committed, the upload is acknowledged.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Self

from django.db import IntegrityError, transaction
from django.utils import timezone

from vernier.media.conf import MediaSettings, media_settings
from vernier.media.exceptions import (
    NoSpace,
    UploadEmpty,
    UploadKeyInvalid,
    UploadKeyReused,
    UploadTooLarge,
    UploadTypeRefused,
)
from vernier.media.log import log_transition
from vernier.media.models import Media, UploadKey, Version
from vernier.media.sniff import HEIC, SNIFF_BYTES, ImageType, sniff
from vernier.media.storages import Writer, create, staging_storage
from vernier.media.tasks import ring

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType
    from uuid import UUID

    from django.contrib.auth.models import AbstractBaseUser

logger = logging.getLogger("vernier.media")

OPERATION_CREATE = "create"
UPLOAD_KEY_BYTES_MAX = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The answer to an upload: which Version it is, and whether this very upload made it."""

    media_id: UUID
    number: int
    created: bool


def accept_upload(
    chunks: Iterable[bytes], *, owner: AbstractBaseUser, idempotency_key: str | None = None
) -> Accepted:
    """Accept an upload as a new Media of `owner`; it is durable and its job enqueued when this returns.

    `chunks` is read once and never whole in memory. With an `idempotency_key` (1 to 255 visible ASCII characters)
    a repeated call with the same bytes gives the first one's answer. Raises UploadRefused (one of its kinds) for
    what the client can put right, NoSpace where the staging store is full.
    """
    with Upload() as upload:
        for chunk in chunks:
            upload.write(chunk)
        return upload.accept(owner=owner, idempotency_key=idempotency_key)


class Upload:
    """An upload as it arrives, for callers who are handed the bytes piece by piece.

    Leaving the context removes whatever no row names.
    """

    def __init__(self, conf: MediaSettings | None = None) -> None:
        self._conf = conf or media_settings()
        self._staging = staging_storage()
        # 128 random bits: a key is never used twice, so a late clean-up can hit no newer file.
        self._staging_key = secrets.token_hex(16)
        self._writer: Writer | None = None
        self._is_staged = False
        self._head = b""
        self._sha256 = hashlib.sha256()
        self._byte_size = 0
        self._type: ImageType | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._writer is not None:
            self._writer.abort()
        # A commit whose answer was lost may have happened: the row decides, not the exception.
        if self._is_staged and not Version.objects.filter(staging_key=self._staging_key).exists():
            self._staging.delete(self._staging_key)

    def write(self, chunk: bytes) -> None:
        """Take the next bytes; raise UploadTooLarge or UploadTypeRefused as soon as that is certain."""
        self._byte_size += len(chunk)
        if self._byte_size > self._conf.upload_max_bytes:
            raise UploadTooLarge(
                f"The file is larger than {self._conf.upload_max_bytes} bytes, the most that is accepted."
            )
        self._sha256.update(chunk)
        if self._writer is not None:
            self._store(chunk)
            return
        self._head += chunk
        if len(self._head) >= SNIFF_BYTES:
            self._start()

    def accept(
        self, *, owner: AbstractBaseUser, idempotency_key: str | None = None, now: datetime | None = None
    ) -> Accepted:
        """Make the upload durable and write its rows and job in one transaction; raises as `accept_upload`."""
        check_upload_key(idempotency_key)
        self._finish()
        now = now or timezone.now()
        try:
            with transaction.atomic():
                accepted = self._earlier(owner, idempotency_key, now) or self._insert(owner, idempotency_key, now)
        except IntegrityError:
            # Where writers do not wait for each other, two uploads with one key meet at its constraint.
            winner = self._earlier(owner, idempotency_key, now)
            if winner is None:
                raise
            accepted = winner
        if accepted.created:
            # From here on the file belongs to its row.
            self._is_staged = False
            log_transition("accepted", media_id=accepted.media_id, version=accepted.number, attempt=0)
        return accepted

    def _start(self) -> None:
        """Check the signature and open the staged file: what is refused here never touches the store."""
        self._type = self._check_type()
        try:
            self._writer = create(self._staging, self._staging_key)
        except OSError as error:
            raise _as_no_space(error) from error
        self._store(self._head)

    def _check_type(self) -> ImageType:
        found = sniff(self._head)
        if found is not None and found.name in self._conf.upload_types:
            return found
        received = f"a {found.name.upper()} file" if found else "not an image of a known type"
        advice = " Set the camera to “Most compatible”, or convert it first." if found is HEIC else ""
        valid = ", ".join(name.upper() for name in self._conf.upload_types)
        raise UploadTypeRefused(f"This is {received}; accepted are {valid}.{advice}")

    def _store(self, chunk: bytes) -> None:
        assert self._writer is not None
        try:
            self._writer.write(chunk)
        except OSError as error:
            raise _as_no_space(error) from error

    def _finish(self) -> None:
        if not self._byte_size:
            raise UploadEmpty("The file is empty: it has 0 bytes.")
        if self._writer is None:
            self._start()
        assert self._writer is not None
        try:
            self._writer.commit()
        except OSError as error:
            raise _as_no_space(error) from error
        self._is_staged = True

    def _earlier(self, owner: AbstractBaseUser, key: str | None, now: datetime) -> Accepted | None:
        """Return the answer that this key was given before; raise UploadKeyReused where the bytes differ."""
        if key is None:
            return None
        known = (
            UploadKey.objects.select_related("version")
            .filter(owner_id=owner.pk, operation=OPERATION_CREATE, target="", key=key)
            .first()
        )
        if known is None:
            return None
        if known.created_at <= now - timedelta(seconds=self._conf.upload_key_seconds):
            known.delete()
            return None
        if known.sha256 != self._sha256.hexdigest():
            raise UploadKeyReused("This Idempotency-Key was used for other bytes; use a new key for a new file.")
        return Accepted(media_id=known.version.media_id, number=known.version.number, created=False)

    def _insert(self, owner: AbstractBaseUser, key: str | None, now: datetime) -> Accepted:
        assert self._type is not None
        media = Media.objects.create(owner_id=owner.pk, newest_number=1, created_at=now)
        version = Version.objects.create(
            media=media,
            number=media.newest_number,
            sha256=self._sha256.hexdigest(),
            byte_size=self._byte_size,
            image_type=self._type.name,
            extension=self._type.extension,
            staging_key=self._staging_key,
            variants=[variant.to_json() for variant in self._conf.variants],
            accepted_at=now,
            rung_at=now,
        )
        if key is not None:
            UploadKey.objects.create(
                owner_id=owner.pk,
                operation=OPERATION_CREATE,
                key=key,
                sha256=version.sha256,
                version=version,
                created_at=now,
            )
        ring(version)
        return Accepted(media_id=media.pk, number=version.number, created=True)


def check_upload_key(key: str | None) -> None:
    """Raise UploadKeyInvalid unless the Idempotency-Key is absent or 1 to 255 characters of visible ASCII."""
    if key is None or (1 <= len(key) <= UPLOAD_KEY_BYTES_MAX and key.isascii() and key.isprintable()):
        return
    raise UploadKeyInvalid(
        f"An Idempotency-Key is 1 to {UPLOAD_KEY_BYTES_MAX} printable ASCII characters; this one has {len(key)}."
    )


def _as_no_space(error: OSError) -> Exception:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return NoSpace("The server has no space left for uploads.")
    return error
