"""Remake: a new Version from the kept original of the one that is served, whose files cannot be had again."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from vernier.media.accept import Upload
from vernier.media.exceptions import MediaError, MediaNotFound
from vernier.media.sniff import IMAGE_TYPES
from vernier.media.storages import COPY_BYTES, local_path, originals_storage, sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from vernier.media.conf import MediaSettings
    from vernier.media.models import Version


class OriginalLost(MediaError):  # noqa: N818 - it names what there is no more
    """No original is kept, or it is not the one that was uploaded."""


def remake(version: Version, conf: MediaSettings, *, now: datetime) -> bool:
    """Accept the kept original as a new Version; return False where there is a newer one, or the Media was deleted.

    Raises OriginalLost, OSError and NoSpace.
    """
    # It was accepted once: what the settings say by now concerns new uploads.
    size_max = max(conf.upload_max_bytes, version.byte_size)
    conf = replace(conf, upload_max_bytes=size_max, upload_types=tuple(IMAGE_TYPES))
    owner, media_id = version.media.owner, version.media_id
    with kept_original(version) as path, Upload(conf) as upload, Path(path).open("rb") as original:
        while chunk := original.read(COPY_BYTES):
            upload.write(chunk)
        try:
            # What the author has sent meanwhile must not be superseded by what was there before.
            return upload.accept(owner=owner, replaces=media_id, remakes=version.number, now=now).created
        except MediaNotFound:
            return False


@contextmanager
def kept_original(version: Version) -> Iterator[str]:
    """Give the path of the kept original; raise OriginalLost unless it is the one that was uploaded."""
    if not version.original_key:
        raise OriginalLost("none was kept")
    with ExitStack() as stack:
        try:
            path = stack.enter_context(local_path(originals_storage(), version.original_key))
            with Path(path).open("rb") as original:
                sha256 = sha256_of(original)
        except FileNotFoundError as error:
            raise OriginalLost(str(error)) from error
        if sha256 != version.sha256:
            raise OriginalLost(f"it has SHA-256 {sha256}")
        yield path
