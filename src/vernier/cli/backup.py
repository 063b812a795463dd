"""`vernier backup`: a consistent, checked copy of the database, made while others write to it."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.migrations.loader import MigrationLoader
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from vernier.media.storages import DatabaseStorage, renditions_storage
from vernier.site.exceptions import VernierError
from vernier.sqlite.backup import copy_database, find_problems, open_unchanging
from vernier.sqlite.checkpoint import connect

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

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
    try:
        with closing(connect(database())) as source:
            before = count_contents(source)
        with bar("Copying") as on_progress:
            copy_database(database(), target, check=lambda copy: _check_copy(copy, before), on_progress=on_progress)
    except FileExistsError:
        _require_free(target)
        raise
    except sqlite3.Error as error:
        raise VernierError(f"No backup was made: {error}.") from error
    print(f"{target} has {before.media} images and is checked.")
    if before.is_complete:
        return 0
    raise VernierError(f"The backup has what the database has, but that is not all: {before}. See vernier doctor.")


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


@contextmanager
def bar(description: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function that shows how many bytes of how many are done: on standard error, if that is a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(description, total=None)
        yield lambda done, total: progress.update(task, completed=min(done, total), total=total)


def _require_free(target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise VernierError(f"There is a file {target} already; a backup overwrites nothing.")
    if not target.parent.is_dir():
        raise VernierError(f"There is no directory {target.parent} for the backup.")


def _check_copy(copy: Path, before: Contents) -> None:
    """Raise VernierError unless the copy is sound and has what was in the database when it was begun."""
    require_sound(copy, copy)
    with closing(open_unchanging(copy)) as opened:
        contents = count_contents(opened)
    if contents.lacks(before):
        raise VernierError(f"No backup was made: the copy does not have all that was counted before ({contents}).")
