"""Whose write-ahead log lies beside a database file.

Nothing in the file format ties the two together: SQLite moves any log that is whole in itself into the database that
it lies beside, and so destroys a database that was copied to where another one was killed. What gives a wrong log
away is page 1. It has a number that programs may use as they like (`user_version`): here it is drawn by lot for each
database and for each copy that `backup` makes. And it counts changes: a log goes on where its database stands, which
tells an older plain copy of the same database.
"""

from __future__ import annotations

import secrets
import struct
import time
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

# https://www.sqlite.org/fileformat2.html sections 1.3 and 4.1: big-endian, whatever the machine.
_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"
_PAGE_BYTES_AT = struct.Struct(">16xH")
_COUNTS = struct.Struct(">24xII28xI")
_LOG_HEADER = struct.Struct(">IIIIIIII")
_LOG_MAGIC = {0x377F0682, 0x377F0683}
_FRAME_HEADER = struct.Struct(">IIII8x")
# A checkpoint that is under way between two looks is over by then.
_PAUSES_SECONDS = (0.02, 0.1)
# A signed number of 32 bits; 0 is that of a database which never had one drawn.
_IDENTITIES = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    """From the first page of a database: the count of changes, how many pages there are, and the number by lot."""

    changes: int
    pages: int
    identity: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """A page in the log: the size of the database after a commit, else 0, and the head where it is page 1.

    Behind the current frames are those of before the log last began anew, until they are overwritten.
    """

    is_current: bool
    pages: int
    head: _Head | None


def log_of(database: Path) -> Path:
    return database.with_name(f"{database.name}-wal")


def draw_identity(connection: sqlite3.Connection) -> None:
    """Give the database a number of its own, by which its log can be told."""
    connection.execute(f"PRAGMA user_version={secrets.randbelow(_IDENTITIES) + 1}")


def has_foreign_log(database: Path) -> bool:
    """Tell whether the log beside the database is certainly that of another one, or of the same at another time.

    Call it before this process opens the database: closing the file would give up SQLite's locks on it. Others may
    use it meanwhile; what they change while this looks counts as theirs. A log that is foreign stays so: what looks
    like one is looked at again.
    """
    for pause_seconds in _PAUSES_SECONDS:
        if not _looks_foreign(database):
            return False
        time.sleep(pause_seconds)
    return _looks_foreign(database)


def _looks_foreign(database: Path) -> bool:
    try:
        with database.open("rb") as opened, log_of(database).open("rb") as log:
            before = _read_heads(opened, log)
            is_foreign = before is not None and not _continues(*before, log)
            return is_foreign and _read_heads(opened, log) == before
    except FileNotFoundError:
        return False


def _read_heads(opened: IO[bytes], log: IO[bytes]) -> tuple[bytes, bytes] | None:
    """Return the heads of both files, or None where either has none: SQLite ignores or refuses such a file."""
    opened.seek(0)
    log.seek(0)
    head, log_head = opened.read(_HEADER_BYTES), log.read(_LOG_HEADER.size)
    is_whole = len(head) == _HEADER_BYTES and len(log_head) == _LOG_HEADER.size
    if not is_whole or not head.startswith(_MAGIC) or _LOG_HEADER.unpack(log_head)[0] not in _LOG_MAGIC:
        return None
    return head, log_head


def _continues(head_bytes: bytes, log_head: bytes, log: IO[bytes]) -> bool:
    """Tell whether the log can be one of this database: moved into it not at all, in part or as a whole."""
    _, _, page_bytes, _, salt_1, salt_2, _, _ = _LOG_HEADER.unpack(log_head)
    (own_page_bytes,) = _PAGE_BYTES_AT.unpack_from(head_bytes)
    # 1 stands for the size that two bytes do not hold.
    if page_bytes != (own_page_bytes if own_page_bytes > 1 else 65536):
        return False
    own, frames = _parse(head_bytes), list(_frames(log, page_bytes, (salt_1, salt_2)))
    return _has_identity(own, frames) and _goes_on(own, [frame for frame in frames if frame.is_current])


def _has_identity(own: _Head, frames: list[_Frame]) -> bool:
    """Tell whether the numbers by lot agree; a database without one may have got it by what is in the log."""
    identities = {frame.head.identity for frame in frames if frame.head is not None}
    return not identities or own.identity in {0, *identities}


def _goes_on(own: _Head, frames: list[_Frame]) -> bool:
    """Tell whether the frames can follow on the database, or have been moved into it in part or as a whole."""
    changes = [frame.head.changes for frame in frames if frame.head is not None]
    if changes:
        # A connection may write the same count again and again, but never one below that which it found.
        return min(changes) - 1 <= own.changes <= max(changes)
    # What changes the size changes page 1.
    return {frame.pages for frame in frames if frame.pages} <= {own.pages}


def _frames(log: IO[bytes], page_bytes: int, salts: tuple[int, int]) -> Iterator[_Frame]:
    """Yield those that tell something: commits and page 1."""
    at, is_current = _LOG_HEADER.size, True
    while True:
        log.seek(at)
        header = log.read(_FRAME_HEADER.size)
        if len(header) < _FRAME_HEADER.size:
            return
        page, pages, *frame_salts = _FRAME_HEADER.unpack(header)
        is_current = is_current and tuple(frame_salts) == salts
        content = log.read(_HEADER_BYTES) if page == 1 else b""
        is_head = len(content) == _HEADER_BYTES and content.startswith(_MAGIC)
        if is_head or pages:
            yield _Frame(is_current=is_current, pages=pages, head=_parse(content) if is_head else None)
        at += _FRAME_HEADER.size + page_bytes


def _parse(head: bytes) -> _Head:
    changes, pages, identity = _COUNTS.unpack_from(head)
    return _Head(changes=changes, pages=pages, identity=identity)
