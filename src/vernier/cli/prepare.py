"""What every command does first: data directory, secret key, Django, database."""

from __future__ import annotations

import logging
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor

from vernier.site.data_directory import (
    DATABASE,
    MIGRATE_LOCK,
    as_data_directory_error,
    make_data_directory,
    new_backup,
    require_writable,
)
from vernier.site.environment import ADDRESS_FILE
from vernier.site.exceptions import VernierError
from vernier.sqlite.backup import clear_parts, copy_database, keep_newest
from vernier.sqlite.file_lock import FileLock
from vernier.sqlite.write_ahead_log import draw_identity, has_foreign_log, log_of

if TYPE_CHECKING:
    from vernier.site.environment import Environment


# Each is as large as the database; so many versions back is further than anybody goes.
_BACKUPS_KEPT = 5


def prepare(*, is_server: bool = False, is_supervised: bool = False) -> None:
    """Set Django up on a data directory with a migrated database; raise VernierError where that is not possible.

    A process that `serve` has started finds all of that done.
    """
    # Whatever is made in the data directory is for its owner alone.
    os.umask(0o077)
    environment: Environment = import_module("vernier.site.settings").ENVIRONMENT
    directory: Path = environment["DATA_DIR"]
    if not is_supervised:
        for warning in environment.warnings:
            print(f"vernier: {warning}", file=sys.stderr)
        make_data_directory(directory)
        require_writable(directory)
    # Children, and whatever changes the working directory, find the same data.
    os.environ["VERNIER_DATA_DIR"] = str(directory)
    django.setup()
    if not is_server and environment["LOG_LEVEL"] != "DEBUG":
        # A command answers on the terminal; what went well is no news there.
        logging.getLogger("vernier").setLevel(logging.WARNING)
    if not is_supervised:
        migrate(directory)


def migrate(directory: Path) -> None:
    """Bring the database to this version's schema, after a backup of what is in it.

    One process at a time: even the first connection to a new database changes the file.
    """
    try:
        with FileLock(directory / MIGRATE_LOCK):
            # Before this process opens the database: that would already bring the log in.
            _require_own_log(Path(settings.DATABASES["default"]["NAME"]))
            if not _pending():
                return
            if _applied():
                _back_up(directory)
                call_command("migrate", verbosity=0, interactive=False)
            else:
                _warn_of_loss(directory)
                _create()
    except OSError as error:
        raise as_data_directory_error(error, directory) from error


def close() -> None:
    """Close the connections properly; the last one to close leaves the database file complete."""
    connections.close_all()


def _pending() -> bool:
    executor = MigrationExecutor(connection)
    unknown = sorted(
        key
        for key in executor.loader.applied_migrations
        if key[0] in executor.loader.migrated_apps and key not in executor.loader.disk_migrations
    )
    if unknown:
        raise VernierError(
            f"The database was made by a newer version of Vernier (it has {unknown[0][0]} {unknown[0][1]}, "
            "which this version does not know). Install that version, or restore a backup of this one."
        )
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _applied() -> bool:
    return bool(MigrationExecutor(connection).loader.applied_migrations)


def _warn_of_loss(directory: Path) -> None:
    """Say that a site begins anew where one was: what a first start leaves that was killed looks otherwise."""
    if (directory / ADDRESS_FILE).exists():
        print(
            f"vernier: A server has run on {directory}, but there is no database any more. A new, empty site begins; "
            "a backup comes back with: vernier restore FILE",
            file=sys.stderr,
        )


def _create() -> None:
    """Make the schema of a new database with one fsync instead of a hundred.

    Without checkpoints everything is in the log, whose checksums tell a torn end: a power cut meanwhile costs
    migrations, which the next start repeats.
    """
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous=OFF")
        call_command("migrate", verbosity=0, interactive=False)
        cursor.execute("PRAGMA synchronous=FULL")
        draw_identity(connection.connection)
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _require_own_log(database: Path) -> None:
    """Raise VernierError where SQLite would move the log of another database into this one."""
    if has_foreign_log(database):
        raise VernierError(
            f"The log {log_of(database)} is not that of {database}, which has been replaced without it. Move the log "
            "away and start again, or put the file in place with: vernier restore."
        )


def _back_up(directory: Path) -> None:
    backup = new_backup(directory)
    clear_parts(backup.parent)
    copy_database(Path(settings.DATABASES["default"]["NAME"]), backup)
    keep_newest(backup.parent, f"????????T*Z-{DATABASE}", count=_BACKUPS_KEPT)
