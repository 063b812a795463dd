"""`vernier restore`: a backup takes the place of the database, which is kept."""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from vernier.cli import prepare
from vernier.cli.backup import (
    Contents,
    copy_bars,
    count_contents,
    database,
    describe_damaged,
    find_damaged,
    require_sound,
)
from vernier.media.storages import COPY_BYTES
from vernier.site.data_directory import (
    HOUSEKEEPING_LOCK,
    MIGRATE_LOCK,
    SERVE_LOCK,
    make_data_directory,
    new_backup,
    require_writable,
)
from vernier.site.exceptions import VernierError
from vernier.sqlite.backup import fsync, open_alone, open_unchanging, replace_database
from vernier.sqlite.file_lock import FileLock
from vernier.sqlite.write_ahead_log import has_foreign_log, log_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

_SQLITE_MAGIC = b"SQLite format 3\0"
# The name of a file on its way in; what a killed restore has left of them is removed by the next.
_PART = "restore-{}.part"
# `serve` holds the first; of `web` and `worker` that run alone, one at a time holds the second.
_SERVER_LOCKS = (SERVE_LOCK, HOUSEKEEPING_LOCK)


def run(arguments: argparse.Namespace) -> int:
    """Check the file, put it in the place of the database, and migrate it."""
    directory = Path(settings.DATA_DIR)
    make_data_directory(directory)
    require_writable(directory)
    _require_file(arguments.file)
    with _servers_kept_out(directory):
        try:
            with _copied_in(arguments.file, directory) as copy:
                contents = _check(copy, arguments.file, is_forced=arguments.force)
                kept = _replace(copy, directory)
        except sqlite3.Error as error:
            raise VernierError(f"{arguments.file} was not restored: {error}.") from error
        prepare.migrate(directory)
    print(f"Restored {contents.media} images from {arguments.file}.")
    if kept is not None:
        print(f"The database that was there before is kept in {kept}.")
    if contents.unfinished:
        print(f"{contents.unfinished} uploads were unfinished in it; those whose original is gone will fail.")
    return 0


def _require_file(file: Path) -> None:
    if not file.is_file():
        raise VernierError(f"There is no file {file}.")
    if database().exists() and file.samefile(database()):
        raise VernierError(f"{file} is the database in use itself; nothing was done.")
    with file.open("rb") as opened:
        if opened.read(len(_SQLITE_MAGIC)) != _SQLITE_MAGIC:
            raise VernierError(f"{file} is not a SQLite database.")
    if has_foreign_log(file):
        raise VernierError(
            f"The log {log_of(file)} does not belong to {file}; move it away if the file alone is what you want."
        )


@contextmanager
def _servers_kept_out(directory: Path) -> Iterator[None]:
    """Hold the locks of the servers; raise VernierError if one of them runs."""
    with ExitStack() as locks:
        for name in _SERVER_LOCKS:
            lock = FileLock(directory / name)
            if not lock.try_acquire():
                raise VernierError(f"A server is running on the data directory {directory}; stop it first.")
            locks.callback(lock.release)
        yield


@contextmanager
def _copied_in(file: Path, directory: Path) -> Iterator[Path]:
    """Give a durable copy of the file, and of a log beside it, as one file in the directory."""
    for left in directory.glob(f"{_PART.format('*')}*"):
        left.unlink()
    copy = directory / _PART.format(secrets.token_hex(4))
    try:
        with copy_bars("Copying") as (on_progress,):
            _copy(file, copy, on_progress)
            if log_of(file).exists():
                _copy(log_of(file), log_of(copy), on_progress)
        _settle(copy, file)
        yield copy
    finally:
        for left in directory.glob(f"{copy.name}*"):
            left.unlink()


def _copy(file: Path, copy: Path, on_progress: Callable[[int, int], None]) -> None:
    total = file.stat().st_size
    with file.open("rb") as source, copy.open("xb") as target:
        while chunk := source.read(COPY_BYTES):
            target.write(chunk)
            on_progress(target.tell(), total)


def _settle(copy: Path, file: Path) -> None:
    """Move what is in the log into the copy and make it durable."""
    try:
        open_alone(copy).close()
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        raise VernierError(f"{file} is damaged: {error}.") from error
    fsync(copy)


def _check(copy: Path, file: Path, *, is_forced: bool) -> Contents:
    """Return what is in the copy; raise VernierError unless it is sound and complete."""
    require_sound(copy, file)
    with closing(open_unchanging(copy)) as opened:
        contents = count_contents(opened)
        if is_forced:
            return contents
        with copy_bars("Checking") as (on_progress,):
            damaged = find_damaged(opened, on_progress)
    if not contents.is_complete:
        raise VernierError(f"{file} is not complete: {contents}. With --force it is restored as it is.")
    if damaged:
        raise VernierError(f"{file} has {describe_damaged(damaged)}. With --force it is restored as it is.")
    return contents


def _replace(copy: Path, directory: Path) -> Path | None:
    """Put the copy in the place of the database and return where that is kept, if there was one.

    Every command waits for this lock before it opens the database.
    """
    with FileLock(directory / MIGRATE_LOCK):
        if not database().exists():
            replace_database(database(), copy)
            return None
        # Of another name than the copies that are made before a migration, of which old ones are removed.
        kept = new_backup(directory, label="before-restore-")
        try:
            # First of all: what SQLite does with the log of a damaged database is not foreseen.
            _keep(database(), kept)
            with _locked(database(), kept):
                replace_database(database(), copy)
        except VernierError:
            for file in (kept, log_of(kept)):
                file.unlink(missing_ok=True)
            raise
        return kept


@contextmanager
def _locked(present: Path, kept: Path) -> Iterator[None]:
    """Keep other programs out of the database, its own log moved into it; a damaged one is left as it is."""
    with ExitStack() as opened:
        if not has_foreign_log(present):
            try:
                opened.enter_context(closing(open_alone(present)))
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                    raise VernierError(f"Another program has {present} open; end it first.") from error
            else:
                if kept.samefile(present):
                    log_of(kept).unlink(missing_ok=True)
        yield


def _keep(present: Path, kept: Path) -> None:
    """Give the database a second name, and its log if it still has one: that takes neither time nor space."""
    for file, name in ((present, kept), (log_of(present), log_of(kept))):
        if not file.exists():
            continue
        try:
            os.link(file, name)
        except OSError:
            # A file system without hard links, or another one.
            shutil.copyfile(file, name)
            fsync(name)
    fsync(kept.parent)
