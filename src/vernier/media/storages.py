"""Django storages that never overwrite: a file is created if its name is free, and durable when the call returns.

Every storage that this app writes to sets `exclusive_create = True` and keeps that contract: `save(name, content)`
stores under exactly `name` or raises FileExistsError, and returns only when the bytes survive a power cut.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from django.core.files.base import ContentFile, File
from django.core.files.storage import FileSystemStorage, Storage, storages
from django.core.files.utils import validate_file_name
from django.db import IntegrityError, transaction
from django.db.models import BinaryField
from django.db.models.functions import Cast, Length
from django.utils.deconstruct import deconstructible

from vernier.media.models import Blob

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.db.models import QuerySet

STAGING = "staging"
RENDITIONS = "renditions"
ORIGINALS = "originals"

# The name of a file that is still being written ends so; nothing ever reads it.
PART_SUFFIX = ".part"
# The step in which files are copied and hashed.
COPY_BYTES = 256 * 1024


class Writer(Protocol):
    """A file on its way into a storage: it exists under its name when `commit` has returned, else not at all."""

    def write(self, chunk: bytes) -> None: ...
    def commit(self) -> None: ...
    def abort(self) -> None: ...


def staging_storage() -> Storage:
    return storages[STAGING]


def renditions_storage() -> Storage:
    return storages[RENDITIONS]


def originals_storage() -> Storage:
    """Return the store of the kept originals; raise OSError where some were kept once and it is not configured."""
    if ORIGINALS not in storages.backends:
        raise NotADirectoryError(errno.ENOENT, "The store is not configured", ORIGINALS)
    return storages[ORIGINALS]


def stores_in_use() -> dict[str, Storage]:
    """Return the stores of this app that are configured, by alias; `originals` need not be."""
    aliases = (STAGING, RENDITIONS, ORIGINALS)
    return {alias: storages[alias] for alias in aliases if alias in storages.backends}


def files_below(storage: Storage, directory: str) -> Iterator[str]:
    """Yield the names of all files below the directory, in order; none where it does not exist."""
    try:
        directories, files = storage.listdir(directory)
    except FileNotFoundError:
        return
    prefix = f"{directory}/" if directory else ""
    for name in sorted(files):
        yield prefix + name
    for name in sorted(directories):
        yield from files_below(storage, prefix + name)


def read(storage: Storage, name: str) -> bytes:
    """Return the whole file; raise FileNotFoundError."""
    with storage.open(name) as stored:
        return bytes(stored.read())


def sha256_of(opened: IO[bytes] | File[bytes]) -> str:
    """Return the SHA-256 of what is left to read, in hexadecimal."""
    sha256 = hashlib.sha256()
    while chunk := opened.read(COPY_BYTES):
        sha256.update(chunk)
    return sha256.hexdigest()


def create(storage: Storage, name: str) -> Writer:
    """Start a file in any storage: written once where it is a local directory, else by way of a temporary file."""
    if isinstance(storage, DurableFileSystemStorage):
        return storage.create(name)
    return SpooledWriter(storage, name)


@contextmanager
def local_path(storage: Storage, name: str) -> Iterator[str]:
    """Give a path in the local file system under which the stored file can be read.

    Raises FileNotFoundError where it does not exist, another OSError where the whole store is not there: a disk that
    is not mounted is not an empty disk.
    """
    if isinstance(storage, FileSystemStorage):
        if not Path(storage.location).is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "The store is not there", storage.location)
        yield storage.path(name)
        return
    with storage.open(name) as stored, tempfile.NamedTemporaryFile() as copy:
        for chunk in stored.chunks(COPY_BYTES):
            copy.write(chunk)
        copy.flush()
        yield copy.name


@deconstructible(path="vernier.media.storages.DurableFileSystemStorage")
class DurableFileSystemStorage(FileSystemStorage):
    """Files in a local directory: temporary file, fsync, exclusive link, fsync of the directory."""

    exclusive_create = True

    def create(self, name: str) -> DurableWriter:
        """Start a file that is written piece by piece; raise nothing if the name is taken until it is committed."""
        validate_file_name(name, allow_relative_path=True)
        path = Path(self.path(name))
        _make_directories(path.parent)
        return DurableWriter(path)

    def get_available_name(self, name: str, max_length: int | None = None) -> str:  # noqa: ARG002 - Django's signature
        """Return the name itself: another one would be a second file for the same thing."""
        return name

    def _save(self, name: str, content: File[Any]) -> str:
        writer = self.create(name)
        try:
            for chunk in content.chunks(COPY_BYTES):
                writer.write(chunk)
            writer.commit()
        finally:
            writer.abort()
        return name

    def delete(self, name: str) -> None:
        """Remove the file durably; a file that is not there is no error."""
        path = Path(self.path(name))
        with suppress(FileNotFoundError):
            path.unlink()
            _fsync_directory(path.parent)


class DurableWriter:
    """A file that appears under its name complete and durable, or not at all."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._part = path.with_name(f"{path.name}.{secrets.token_hex(4)}{PART_SUFFIX}")
        self._file: IO[bytes] | None = self._part.open("xb", buffering=0)

    def write(self, chunk: bytes) -> None:
        if self._file is None:
            raise ValueError("The file is closed.")
        view = memoryview(chunk)
        while view:
            # An unbuffered write may take a part only.
            view = view[self._file.write(view) :]

    def commit(self) -> None:
        """Make the file durable under its name; raise FileExistsError if the name is taken.

        An fsync that fails is not repeated: the kernel may have dropped the pages that it could not write.
        """
        if self._file is None:
            raise ValueError("The file is closed.")
        os.fsync(self._file.fileno())
        os.link(self._part, self._path)
        self.abort()
        _fsync_directory(self._path.parent)

    def abort(self) -> None:
        """Drop what was not committed; does nothing after a commit."""
        if self._file is None:
            return
        self._file.close()
        self._file = None
        self._part.unlink(missing_ok=True)


class SpooledWriter:
    """The same for a storage without a directory of ours: the bytes wait in a temporary file."""

    def __init__(self, storage: Storage, name: str) -> None:
        self._storage = storage
        self._name = name
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by abort()

    def write(self, chunk: bytes) -> None:
        self._file.write(chunk)

    def commit(self) -> None:
        self._file.seek(0)
        self._storage.save(self._name, File(self._file))
        self.abort()

    def abort(self) -> None:
        self._file.close()


@deconstructible(path="vernier.media.storages.DatabaseStorage")
class DatabaseStorage(Storage):
    """Files as rows of the table of Blobs, so that one database file is the whole backup."""

    exclusive_create = True

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        if mode != "rb":
            raise ValueError(f"A blob opens in mode 'rb' only, not {mode!r}.")
        # SQLite gives each value a type of its own, which damage may turn into one that cannot be read.
        as_bytes = Cast("content", BinaryField())
        content = Blob.objects.filter(key=name).values_list(as_bytes, flat=True).first()
        if content is None:
            raise FileNotFoundError(name)
        return ContentFile(bytes(content), name=name)

    def _save(self, name: str, content: File[Any]) -> str:
        blob = Blob(key=name, content=content.read())
        try:
            with transaction.atomic():
                blob.save(force_insert=True)
        except IntegrityError as taken:
            raise FileExistsError(name) from taken
        return name

    def get_available_name(self, name: str, max_length: int | None = None) -> str:  # noqa: ARG002 - Django's signature
        return name

    def delete(self, name: str) -> None:
        Blob.objects.filter(key=name).delete()

    def exists(self, name: str) -> bool:
        return Blob.objects.filter(key=name).exists()

    def size(self, name: str) -> int:
        size = Blob.objects.filter(key=name).values_list(Length("content"), flat=True).first()
        if size is None:
            raise FileNotFoundError(name)
        return int(size)

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        """Return the names of the directories and of the files directly below `path`."""
        prefix = f"{path.strip('/')}/" if path.strip("/.") else ""
        names = [key.removeprefix(prefix) for key in self.keys(prefix).iterator()]
        directories = dict.fromkeys(name.split("/")[0] for name in names if "/" in name)
        return list(directories), [name for name in names if "/" not in name]

    def keys(self, prefix: str = "", *, after: str = "") -> QuerySet[Blob, str]:
        """Return the keys that start with the prefix, in order, from behind `after`; by the index."""
        blobs = Blob.objects.filter(key__gt=max(after, prefix))
        if prefix:
            # The first text that is greater than all that start so; LIKE would not use the index.
            blobs = blobs.filter(key__lt=prefix[:-1] + chr(ord(prefix[-1]) + 1))
        return blobs.order_by("key").values_list("key", flat=True)


def _make_directories(directory: Path) -> None:
    """Make the directory and what leads to it, each durable in its parent."""
    if directory.is_dir():
        return
    _make_directories(directory.parent)
    directory.mkdir(exist_ok=True)
    _fsync_directory(directory.parent)


def _fsync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
