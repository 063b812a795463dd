"""Accept: from the bytes of an upload to a Version that will be processed, whatever happens next.

The bytes come first: they are hashed on their way into the staging store and durable there before any row. Then one
transaction (`record.py`) writes the rows and enqueues the job; when it has committed, the upload is acknowledged.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import secrets
from typing import TYPE_CHECKING, Self

from django.db import DatabaseError
from django.utils import timezone

from vernier.media.conf import MediaSettings, media_settings
from vernier.media.exceptions import NoSpace, UploadEmpty, UploadKeyInvalid, UploadTooLarge, UploadTypeRefused
from vernier.media.log import log_transition
from vernier.media.models import Version
from vernier.media.record import Accepted, Original, UploadRequest, record
from vernier.media.sniff import HEIC, SNIFF_BYTES, ImageType, sniff
from vernier.media.storages import Writer, create, staging_storage

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from types import TracebackType
    from uuid import UUID

    from django.contrib.auth.models import AbstractBaseUser

logger = logging.getLogger("vernier.media")

UPLOAD_KEY_BYTES_MAX = 255


def accept_upload(
    chunks: Iterable[bytes],
    *,
    owner: AbstractBaseUser,
    replaces: UUID | None = None,
    idempotency_key: str | None = None,
) -> Accepted:
    """Accept an upload of `owner`; it is durable and its job enqueued when this returns.

    Not to be called within a transaction, which could take that back: then it raises RuntimeError.

    It becomes a new Media, or a new Version of the Media that it `replaces`, unless the newest one there has these
    very bytes and has not failed. `chunks` is read once and never whole in memory. With an `idempotency_key` (1 to
    255 printable ASCII characters) a repeated call with the same bytes gives the first one's answer. Raises
    UploadRefused (one of its kinds) for what the client can put right, MediaNotFound where `owner` has no such
    Media, NoSpace where the staging store is full.
    """
    with Upload() as upload:
        for chunk in chunks:
            upload.write(chunk)
        return upload.accept(owner=owner, replaces=replaces, idempotency_key=idempotency_key)


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
        if self._is_staged:
            self._discard()

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
        self,
        *,
        owner: AbstractBaseUser,
        replaces: UUID | None = None,
        idempotency_key: str | None = None,
        remakes: int | None = None,
        now: datetime | None = None,
    ) -> Accepted:
        """Make the upload durable and write its rows and job in one transaction; raises as `accept_upload`.

        With `remakes`, the number of a Version, its own bytes make a new one; unless there is a newer one by now that
        has not failed: then the newest is the answer.
        """
        check_upload_key(idempotency_key)
        original = self._finish()
        request = UploadRequest(
            owner_id=owner.pk,
            replaces=replaces,
            key=idempotency_key,
            remakes=remakes,
            now=now or timezone.now(),
        )
        accepted = record(request, original, self._conf)
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

    def _finish(self) -> Original:
        """Make the bytes durable."""
        if not self._byte_size:
            raise UploadEmpty("The file is empty: it has 0 bytes.")
        if self._writer is None:
            self._start()
        assert self._writer is not None
        assert self._type is not None
        # Also where the commit fails, for that may be after the file has got its name.
        self._is_staged = True
        try:
            self._writer.commit()
        except OSError as error:
            raise _as_no_space(error) from error
        return Original(
            staging_key=self._staging_key,
            sha256=self._sha256.hexdigest(),
            byte_size=self._byte_size,
            image_type=self._type,
        )

    def _discard(self) -> None:
        """Delete the staged file unless a row names it: a transaction whose answer was lost may have happened."""
        try:
            if not Version.objects.filter(staging_key=self._staging_key).exists():
                self._staging.delete(self._staging_key)
        except (DatabaseError, OSError) as error:
            # Whatever made the upload fail is the news; the file is left to the sweep.
            logger.warning("not deleted from staging: %s (%s)", self._staging_key, error)


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
