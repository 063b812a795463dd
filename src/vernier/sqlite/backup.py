"""A consistent copy of a database that others may be writing to."""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_MODE = 0o600


def copy_database(database: Path, target: Path) -> None:
    """Copy the database to `target`, which is there whole and durable when this returns, or not at all.

    Raises FileExistsError if there is a `target` already, and sqlite3.Error or OSError for what else goes wrong.
    """
    part = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
    try:
        part.touch(mode=_MODE, exist_ok=False)
        with closing(sqlite3.connect(database, isolation_level=None)) as source:
            source.execute("PRAGMA wal_autocheckpoint=0")
            source.execute("VACUUM INTO ?", [str(part)])
        _fsync(part)
        os.link(part, target)
    finally:
        part.unlink(missing_ok=True)
    _fsync(target.parent)


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
