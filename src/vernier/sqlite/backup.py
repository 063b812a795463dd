"""A consistent copy of a database that others may be writing to, and what is wrong with a database file."""

from __future__ import annotations

import errno
import os
import re
import secrets
import sqlite3
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

from vernier.sqlite.write_ahead_log import draw_identity, log_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    # Takes the bytes that are written and about how many there will be.
    Progress = Callable[[int, int], None]

_MODE = 0o600
# Between two looks at the progress, in steps of SQLite's machine: some megabytes of images, or milliseconds.
_STEPS = 200
# A writer is out of the way sooner; after that the copy is given up rather than waited for without an end.
_TIMEOUT_SECONDS = 20
# More than these do not help who reads them; a damaged index alone has thousands.
_PROBLEMS_MAX = 10
# The name of a copy in the making ends so; nothing else has such a name.
_PART = re.compile(r".+\.[0-9a-f]{8}\.vernier\.part")
# Who makes a copy writes to it every few seconds, and then reads it: some minutes where it is very large.
ABANDONED_SECONDS = 3600
# What a file system without hard links (a USB stick, many network shares) says to `link`.
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV}


def copy_database(
    database: Path,
    target: Path,
    *,
    check: Callable[[Path], None] = lambda _: None,
    on_progress: Progress = lambda _done, _total: None,
) -> None:
    """Copy the database to `target`, which is there whole and durable when this returns, or not at all.

    `check` is given the copy before it gets its name, and raises what keeps it from getting it. Raises
    FileExistsError if there is a `target` already, and sqlite3.Error or OSError for what else goes wrong.
    """
    part = target.with_name(f"{target.name}.{secrets.token_hex(4)}.vernier.part")
    try:
        part.touch(mode=_MODE, exist_ok=False)
        _vacuum_into(database, part, on_progress)
        with closing(sqlite3.connect(part, isolation_level=None)) as copy:
            draw_identity(copy)
        fsync(part)
        check(part)
        _name(part, target)
    finally:
        part.unlink(missing_ok=True)
    fsync(target.parent)


def clear_parts(directory: Path, *, now: float | None = None) -> list[Path]:
    """Remove what killed copies have left in the directory; return the files that may still be in the making."""
    parts = sorted(path for path in directory.iterdir() if _PART.fullmatch(path.name))
    before = (time.time() if now is None else now) - ABANDONED_SECONDS
    return [part for part in parts if not _remove_abandoned(part, before)]


def keep_newest(directory: Path, pattern: str, *, count: int) -> None:
    """Remove all but so many of the files of the pattern: the last by their names, which begin with a time."""
    for old in sorted(directory.glob(pattern))[:-count]:
        old.unlink(missing_ok=True)


def _remove_abandoned(part: Path, before: float) -> bool:
    with suppress(FileNotFoundError):
        if part.stat().st_mtime > before:
            return False
        part.unlink()
    return True


def find_problems(database: Path) -> list[str]:
    """Return what SQLite finds wrong in a file that nobody writes to: damage, and rows that refer to nothing."""
    with closing(open_unchanging(database)) as connection:
        try:
            checked = connection.execute(f"PRAGMA integrity_check({_PROBLEMS_MAX})")
            found = [line for (line,) in checked if line != "ok"]
            broken = connection.execute("PRAGMA foreign_key_check").fetchmany(_PROBLEMS_MAX)
        except sqlite3.DatabaseError as error:
            return [str(error)]
    return found + [
        f"row {row} of {table} refers to a row of {parent} that is missing" for table, row, parent, _ in broken
    ]


def open_unchanging(database: Path) -> sqlite3.Connection:
    """Open a file that nobody writes to for reading; nothing is made beside it, and a log there is not looked at."""
    return sqlite3.connect(_uri(database, "mode=ro&immutable=1"), uri=True, isolation_level=None)


def open_alone(database: Path) -> sqlite3.Connection:
    """Open a database that nobody else has open, with its log moved into it: it is one file then, and locked.

    Raises sqlite3.OperationalError with the code SQLITE_BUSY if another connection is open.
    """
    connection = sqlite3.connect(_uri(database, "mode=rw"), uri=True, isolation_level=None, timeout=0)
    try:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("BEGIN EXCLUSIVE")
    except BaseException:
        connection.close()
        raise
    return connection


def replace_database(database: Path, new: Path) -> None:
    """Put the file `new` (durable, in the same directory, without a log) in the place of a database in no use.

    What is left of the old one's log goes first: SQLite would move it into the new one.
    """
    for beside in (log_of(database), database.with_name(f"{database.name}-shm")):
        beside.unlink(missing_ok=True)
    fsync(database.parent)
    new.replace(database)
    fsync(database.parent)


def fsync(path: Path) -> None:
    """Make a file, or the names in a directory, durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        # What is read afterwards comes from the disk, so that a check is a check of what is there.
        with suppress(OSError):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def _vacuum_into(database: Path, part: Path, on_progress: Progress) -> None:
    """Write one snapshot into the empty file `part`; what `on_progress` raises ends it, Ctrl-C included."""
    raised: list[BaseException] = []
    with closing(
        sqlite3.connect(_uri(database, "mode=rw"), uri=True, isolation_level=None, timeout=_TIMEOUT_SECONDS)
    ) as source:
        source.execute("PRAGMA wal_autocheckpoint=0")
        total = _bytes_used(source)

        def look() -> bool:
            try:
                on_progress(part.stat().st_size, total)
            except BaseException as error:  # noqa: BLE001 - raised again below; SQLite would swallow it
                raised.append(error)
            return bool(raised)

        source.set_progress_handler(look, _STEPS)
        try:
            source.execute("VACUUM INTO ?", [str(part)])
        except sqlite3.OperationalError:
            if raised:
                raise raised[0] from None
            raise


def _bytes_used(source: sqlite3.Connection) -> int:
    pages, free, page_bytes = (
        source.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * page_bytes)


def _name(part: Path, target: Path) -> None:
    """Give the file its name, which must be free; raise FileExistsError."""
    try:
        os.link(part, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # An empty file holds the name until the copy takes its place.
        target.touch(mode=_MODE, exist_ok=False)
        part.replace(target)


def _uri(database: Path, parameters: str) -> str:
    """Return an address that opens what is there; a plain path would make a database where there is none."""
    return f"file:{quote(str(database.absolute()))}?{parameters}"
