"""The checkpointer: moves what was committed from the write-ahead log into the database file.

SQLite 3.7.0 to 3.51.2 can corrupt a database when two connections checkpoint at the same moment. Therefore every
other connection has its automatic checkpoints off, and exactly one process checkpoints, under a file lock. When
writing stops it empties the log: from then on the database file alone is a complete copy, and nothing is written
until somebody writes again.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING

from vernier.sqlite.file_lock import FileLock

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger("vernier.sqlite")

# While others write: often enough to keep the log short, seldom enough not to fsync all the time.
PASSIVE_SECONDS = 5.0
# Writing counts as stopped when the log has not changed for so long.
IDLE_SECONDS = 2.0
# Emptying the log keeps writers out. It gives way to whoever is at work, and comes back at the next tick.
_BUSY_SECONDS = 0.05

_PASSIVE = "PASSIVE"
_TRUNCATE = "TRUNCATE"


class Checkpointer:
    """Call `tick` about once a second; whichever process has the lock checkpoints, the others do nothing."""

    def __init__(self, database: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._log = Path(f"{database}-wal")
        self._lock = FileLock(database.with_name("checkpoint.lock"))
        self._clock = clock
        self._connection: sqlite3.Connection | None = None
        # What the log looked like when it was last looked at, and since when it has looked so.
        self._seen: tuple[int, int] | None = None
        self._seen_at = clock()
        self._checkpointed_at = clock()
        self._reported = ""

    def tick(self) -> str | None:
        """Checkpoint if it is time to; return the mode in which it was done completely, else None."""
        try:
            if not self._lock.try_acquire():
                return None
            connection = self._connect()
            mode = self._due(self._clock())
            done = mode is not None and self._checkpoint(connection, mode)
        except (sqlite3.Error, OSError) as error:
            self._report(str(error))
            return None
        self._report("")
        return mode if done else None

    def close(self) -> None:
        """Give the lock back. SQLite empties the log by itself when the last connection to it is closed."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._lock.release()

    def _connect(self) -> sqlite3.Connection:
        """Return the connection, which stays open: a page view that closes the last one would have to checkpoint."""
        if self._connection is None:
            self._connection = connect(self._database)
        return self._connection

    def _due(self, now: float) -> str | None:
        looks = self._look()
        if looks != self._seen:
            self._seen, self._seen_at = looks, now
        if not looks[0]:
            return None
        if now - self._seen_at >= IDLE_SECONDS:
            return _TRUNCATE
        return _PASSIVE if now - self._checkpointed_at >= PASSIVE_SECONDS else None

    def _look(self) -> tuple[int, int]:
        """Return the log's size and time: it is written anew from its start without growing."""
        try:
            status = self._log.stat()
        except FileNotFoundError:
            return 0, 0
        return status.st_size, status.st_mtime_ns

    def _checkpoint(self, connection: sqlite3.Connection, mode: str) -> bool:
        started = self._checkpointed_at = self._clock()
        busy, frames, moved = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
        logger.debug(
            "checkpoint mode=%s frames=%d moved=%d seconds=%.3f",
            mode,
            frames,
            moved,
            self._clock() - started,
            extra={"event": "checkpoint"},
        )
        return not busy and frames == moved

    def _report(self, problem: str) -> None:
        """Log a problem once while it lasts: a full disk stays full for many ticks."""
        if problem and problem != self._reported:
            logger.warning("No checkpoint: %s", problem, extra={"event": "checkpoint_failed"})
        self._reported = problem


def connect(database: Path) -> sqlite3.Connection:
    """Open a connection for checkpoints and copies, which never checkpoints by itself."""
    connection = sqlite3.connect(database, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    return connection
