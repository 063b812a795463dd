"""One file of a form on its way into the staging store, and from there to a Media."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vernier.media.accept import Upload
from vernier.media.exceptions import UploadEmpty, UploadRefused
from vernier.media_api.multipart import shown
from vernier.media_api.received import ReceivedFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from threading import Lock
    from uuid import UUID

    from django.contrib.auth.models import AbstractBaseUser

    from vernier.media.record import Accepted

# The longest name that a file has on most systems. There each of its characters may take more than one byte.
FILENAME_CHARACTERS_MAX = 255


class StagedFile:
    """Takes the bytes of a file, or counts them from the moment on when it is certain that they are refused.

    `lock` is that of the form: whoever calls holds it, except for `accept`, which comes from a view and takes it.
    """

    def __init__(self, *, field: str, filename: bytes, lock: Lock, refusal: UploadRefused | None) -> None:
        self._field = field
        self._filename = _base_name(filename)
        self._lock = lock
        self._refusal = refusal
        self._byte_size = 0
        self._upload = _Upload()

    def write(self, data: bytes) -> None:
        """Take the next bytes; raise NoSpace."""
        self._byte_size += len(data)
        if self._refusal is None:
            with self._noting_refusal():
                self._upload.write(data)

    def end(self) -> ReceivedFile:
        """Return what has come of it."""
        if self._refusal is None:
            with self._noting_refusal():
                self._upload.end()
        return ReceivedFile(
            field=self._field,
            filename=self._filename,
            byte_size=self._byte_size,
            sha256=self._upload.sha256 if self._refusal is None else "",
            refusal=self._refusal,
            staged=self,
        )

    def accept(self, *, owner: AbstractBaseUser, replaces: UUID | None, idempotency_key: str | None) -> Accepted:
        """Make a Media of it; raises as `Upload.accept`, and ValueError once the request has ended."""
        with self._lock:
            return self._upload.accept(owner=owner, replaces=replaces, idempotency_key=idempotency_key)

    def close(self) -> None:
        """Remove what no row names."""
        self._upload.__exit__(None, None, None)

    @contextmanager
    def _noting_refusal(self) -> Iterator[None]:
        """Keep the reason of a refusal, which is not the end of the form, and remove at once what was staged."""
        try:
            yield
        except UploadRefused as error:
            self._refusal = error
            self.close()


class _Upload(Upload):
    """An upload that tells before it is accepted what it is, and whether it would be refused."""

    @property
    def sha256(self) -> str:
        return self._sha256.hexdigest()

    def end(self) -> None:
        """Note that no more bytes come; raise UploadEmpty, or UploadTypeRefused for a short file."""
        if not self._byte_size:
            raise UploadEmpty("The file is empty: it has 0 bytes.")
        if self._writer is None:
            self._start()


def _base_name(filename: bytes) -> str:
    """Return the last part of the name, as people see it; nothing where that is only dots."""
    name = shown(re.split(rb"[/\\]", filename)[-1], characters_max=FILENAME_CHARACTERS_MAX).strip()
    return name if name.strip(".") else ""
