"""List what a store holds, page by page and in order: each page can start where another one ended.

Memory is bounded by the page. A store that is not there, or a listing that fails, is an error: an unmounted disk is
not an empty disk.
"""

from __future__ import annotations

import errno
import os
import unicodedata
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from django.core.files.storage import FileSystemStorage

from vernier.media.storages import DatabaseStorage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.core.files.storage import Storage


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Keys of one store, and the cursor behind which the next page starts; an empty one at the end."""

    keys: tuple[str, ...]
    cursor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    name: str
    is_directory: bool


def list_page(storage: Storage, directory: str = "", *, after: str = "", limit: int) -> Page:
    """Return the keys below the directory from behind the cursor `after`, at most `limit`.

    Without a directory these are the files at the top of the store alone. A page may be short, or empty, before the
    end: directories count as well. Raises OSError.
    """
    require_present(storage)
    if isinstance(storage, DatabaseStorage):
        return _page_of_blobs(storage, directory, after, limit)
    depth = len(directory.split("/")) if directory else 0
    walked = list(islice(_walk(storage, directory, after.split("/")[depth:] if after else [], limit), limit))
    return Page(
        keys=tuple(path for path, is_directory in walked if not is_directory),
        cursor=walked[-1][0] if len(walked) == limit else "",
    )


def require_present(storage: Storage, directory: str = "") -> None:
    """Raise OSError where the store is known to be missing, or this directory of it."""
    if isinstance(storage, FileSystemStorage):
        path = Path(storage.location, directory)
        if not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "The store is not there", str(path))


def _page_of_blobs(storage: DatabaseStorage, directory: str, after: str, limit: int) -> Page:
    prefix = f"{directory}/" if directory else ""
    keys = tuple(storage.keys(prefix, after=after)[:limit])
    return Page(
        keys=tuple(key for key in keys if directory or "/" not in key),
        cursor=keys[-1] if len(keys) == limit else "",
    )


def _walk(storage: Storage, directory: str, after: list[str], limit: int) -> Iterator[tuple[str, bool]]:
    """Yield paths below the directory in the order of their parts; `after` are the parts of the last one known."""
    start = after[0] if after else ""
    following = (entry for entry in _entries(storage, directory) if entry.name >= start)
    # One more than is needed: the first one may be the directory in which the last page ended.
    for entry in nsmallest(limit + 1, following, key=lambda entry: entry.name):
        path = f"{directory}/{entry.name}" if directory else entry.name
        is_resumed = bool(after) and entry.name == start
        if not is_resumed:
            yield path, entry.is_directory
        if entry.is_directory and directory:
            yield from _walk(storage, path, after[1:] if is_resumed else [], limit)


def _entries(storage: Storage, directory: str) -> Iterator[_Entry]:
    """Yield what is in the directory; nothing where it does not exist (any more)."""
    try:
        if isinstance(storage, FileSystemStorage):
            with os.scandir(Path(storage.location, directory)) as entries:
                for entry in entries:
                    yield _Entry(name=entry.name, is_directory=entry.is_dir())
            return
        directories, files = storage.listdir(directory)
    except FileNotFoundError:
        return
    for names, is_directory in ((directories, True), (files, False)):
        for name in names:
            # Some stores end the names of directories with a slash, or spell letters in their parts.
            yield _Entry(name=unicodedata.normalize("NFC", name).strip("/"), is_directory=is_directory)
