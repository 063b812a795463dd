"""`vernier backup`: a consistent, checked copy of the database, made while others write to it."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.migrations.loader import MigrationLoader
from rich.progress import DownloadColumn

from vernier.cli.progress import bars
from vernier.media.storages import DatabaseStorage, renditions_storage
from vernier.site.exceptions import VernierError
from vernier.sqlite.backup import ABANDONED_SECONDS, clear_parts, copy_database, find_problems, open_unchanging
from vernier.sqlite.checkpoint import connect

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, TaskID

# A database without one of these is not one of Vernier.
_TABLES = ("django_migrations", "media_media", "media_version", "media_rendition", "media_blob")

# The numbers of Versions and Renditions are given once: theirs only grow, whatever is deleted meanwhile. A deleted
# Media leaves its tombstone.
_COUNT = """
SELECT (SELECT count(*) FROM media_media),
       coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'media_version'), 0),
       coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'media_rendition'), 0)
"""
_COUNT_UNFINISHED = "SELECT count(*) FROM media_version WHERE status IN ('pending', 'processing')"
# What a torn copy that SQLite finds nothing wrong with has.
_COUNT_INCOMPLETE = """
SELECT count(*) FROM media_media AS media
LEFT JOIN media_version AS current ON current.id = media.current_id
WHERE media.deleted_at IS NULL
  AND (current.status <> 'ready' OR media.newest_number <>
       (SELECT coalesce(max(number), 0) FROM media_version WHERE media_id = media.id))
"""
# Files that are known to be lost are the business of the doctor.
_COUNT_WITHOUT_FILE = """
SELECT count(*) FROM media_rendition AS rendition
JOIN media_version AS version ON version.id = rendition.version_id
LEFT JOIN media_blob AS blob ON blob.key = rendition.storage_key
WHERE version.status = 'ready' AND rendition.lost_at IS NULL
  AND (blob.key IS NULL OR length(blob.content) <> rendition.byte_size)
"""
# Of these the bytes are compared: in the order in which they lie in the file.
_FILES = """
SELECT blob.rowid, rendition.storage_key, rendition.sha256, rendition.byte_size
FROM media_rendition AS rendition JOIN media_blob AS blob ON blob.key = rendition.storage_key
WHERE rendition.lost_at IS NULL ORDER BY blob.rowid
"""
_COUNT_BYTES = "SELECT coalesce(sum(byte_size), 0) FROM media_rendition WHERE lost_at IS NULL"
_READ_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What is in a database: marks that only grow, the work in flight, and what is wrong between the rows."""

    media: int
    newest_version: int
    newest_rendition: int
    unfinished: int
    incomplete_media: int
    renditions_without_file: int

    @property
    def is_complete(self) -> bool:
        return not (self.incomplete_media or self.renditions_without_file)

    def lacks(self, before: Contents) -> bool:
        """Tell whether something is missing, or wrong, that was not so before."""
        return (
            self.media < before.media
            or self.newest_version < before.newest_version
            or self.newest_rendition < before.newest_rendition
            or self.incomplete_media > before.incomplete_media
            or self.renditions_without_file > before.renditions_without_file
        )

    def __str__(self) -> str:
        wrong = (
            f"{self.incomplete_media} images without their rows, {self.renditions_without_file} renditions without"
        )
        return f"{wrong} their file"


def run(arguments: argparse.Namespace) -> int:
    target: Path = arguments.file
    _require_free(target)
    for part in clear_parts(target.parent):
        print(
            f"vernier: {part} is a copy in the making, or was left by one that was killed; it is removed by the next"
            f" backup when nobody has written to it for {ABANDONED_SECONDS // 60} minutes.",
            file=sys.stderr,
        )
    damaged: list[str] = []
    try:
        with closing(connect(database())) as source:
            before = count_contents(source)
        with copy_bars("Copying", "Checking") as (on_copied, on_checked):
            check = partial(_check_copy, before=before, damaged=damaged, on_progress=on_checked)
            copy_database(database(), target, check=check, on_progress=on_copied)
    except FileExistsError:
        _require_free(target)
        raise
    except sqlite3.Error as error:
        raise VernierError(f"No backup was made: {error}.") from error
    print(f"{target} has {before.media} images and is checked.")
    if before.is_complete and not damaged:
        return 0
    wrong = str(before) if not damaged else f"{before}, {describe_damaged(damaged)}"
    raise VernierError(f"The backup has what the database has, but that is not all: {wrong}. See vernier doctor.")


def database() -> Path:
    return Path(settings.DATABASES["default"]["NAME"])


def require_sound(copy: Path, name: Path) -> None:
    """Raise VernierError unless the file, which the operator knows as `name`, is a sound database of this version."""
    if problems := find_problems(copy):
        raise VernierError(f"{name} is damaged: {problems[0]}.")
    with closing(open_unchanging(copy)) as opened:
        tables = {table for (table,) in opened.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        missing = [table for table in _TABLES if table not in tables]
        if missing:
            raise VernierError(f"{name} is a database, but not one of Vernier: it has no table {missing[0]}.")
        applied = set(opened.execute("SELECT app, name FROM django_migrations"))
    loader = MigrationLoader(None)
    unknown = sorted(key for key in applied if key[0] in loader.migrated_apps and key not in loader.disk_migrations)
    if unknown:
        raise VernierError(
            f"{name} was made by a newer version of Vernier: it has {unknown[0][0]} {unknown[0][1]}, "
            "which this version does not know."
        )


def count_contents(opened: sqlite3.Connection) -> Contents:
    """Count in one snapshot."""
    opened.execute("BEGIN")
    try:
        media, newest_version, newest_rendition = opened.execute(_COUNT).fetchone()
        in_database = isinstance(renditions_storage(), DatabaseStorage)
        return Contents(
            media=media,
            newest_version=newest_version,
            newest_rendition=newest_rendition,
            unfinished=opened.execute(_COUNT_UNFINISHED).fetchone()[0],
            incomplete_media=opened.execute(_COUNT_INCOMPLETE).fetchone()[0],
            renditions_without_file=opened.execute(_COUNT_WITHOUT_FILE).fetchone()[0] if in_database else 0,
        )
    finally:
        opened.execute("ROLLBACK")


def find_damaged(opened: sqlite3.Connection, on_progress: Callable[[int, int], None]) -> list[str]:
    """Return the keys of the renditions whose bytes are not those that were stored."""
    if not isinstance(renditions_storage(), DatabaseStorage):
        return []
    damaged, done, (total,) = [], 0, opened.execute(_COUNT_BYTES).fetchone()
    for rowid, key, expected, byte_size in opened.execute(_FILES):
        if _sha256(opened, rowid) != expected:
            damaged.append(key)
        done += byte_size
        on_progress(done, total)
    return damaged


def describe_damaged(keys: list[str]) -> str:
    """Return how many renditions are damaged, for the operator."""
    return f"{len(keys)} renditions with other bytes than were stored ({keys[0]})"


def _sha256(opened: sqlite3.Connection, rowid: int) -> str:
    """Return the checksum of a blob, which is never whole in memory."""
    digest = sha256()
    with opened.blobopen("media_blob", "content", rowid, readonly=True) as blob:
        while chunk := blob.read(_READ_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def copy_bars(*descriptions: str) -> Iterator[list[Callable[[int, int], None]]]:
    """Give for each a function that shows how many bytes of how many are done."""
    with bars(DownloadColumn()) as progress:
        tasks = [progress.add_task(description, total=None, visible=False) for description in descriptions]
        yield [partial(_show, progress, task) for task in tasks]


def _show(progress: Progress, task: TaskID, done: int, total: int) -> None:
    progress.update(task, completed=min(done, total), total=total, visible=True)


def _require_free(target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise VernierError(f"There is a file {target} already; a backup overwrites nothing.")
    if not target.parent.is_dir():
        raise VernierError(f"There is no directory {target.parent} for the backup.")


def _check_copy(copy: Path, before: Contents, damaged: list[str], on_progress: Callable[[int, int], None]) -> None:
    """Raise VernierError unless the copy is sound and has what was in the database when it was begun.

    What is damaged in the database too is no fault of the copy: its keys are added to `damaged`.
    """
    require_sound(copy, copy)
    with closing(open_unchanging(copy)) as opened:
        contents = count_contents(opened)
        damaged += find_damaged(opened, on_progress)
    if damaged and (torn := _whole_in_database(damaged)):
        raise VernierError(f"No backup was made: the copy has {describe_damaged(torn)}.")
    if contents.lacks(before):
        raise VernierError(f"No backup was made: the copy does not have all that was counted before ({contents}).")


def _whole_in_database(keys: list[str]) -> list[str]:
    """Return those of the keys whose files are as they were stored in the database itself."""
    query = (
        "SELECT blob.rowid, rendition.sha256 FROM media_rendition AS rendition"
        " JOIN media_blob AS blob ON blob.key = rendition.storage_key WHERE rendition.storage_key = ?"
    )
    with closing(connect(database())) as source:
        found = [(key, source.execute(query, [key]).fetchone()) for key in keys]
        return [key for key, row in found if row is not None and _sha256(source, row[0]) == row[1]]
