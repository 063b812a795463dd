"""Writers of one process take turns.

SQLite lets one connection write at a time, and who has to wait polls, after pauses of up to 100 ms. Among several
threads that write all the time, some are passed over again and again. Here the next thread is woken when the turn
ends. Other processes are still met as SQLite meets them.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.db import OperationalError
from django.db.backends.sqlite3 import base

if TYPE_CHECKING:
    from collections.abc import Iterator

# For each database file.
_TURNS: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
# Of Python's sqlite3 where the options name none.
_DEFAULT_TIMEOUT_SECONDS = 5.0


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection whose transactions begin when those of other threads to the same file have ended."""

    # mypy is told of no private method of the base class; Django calls each in exactly one place.
    _turn: threading.Lock | None = None

    def _start_transaction_under_autocommit(self) -> None:
        """Begin a transaction; raise OperationalError when the turn does not come within the `timeout` of SQLite."""
        self._take_turn()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._end_turn()
            raise

    def _commit(self) -> None:
        # Where that fails, a rollback follows.
        super()._commit()  # type: ignore[misc]
        self._end_turn()

    def _rollback(self) -> None:
        with self._ending_turn():
            super()._rollback()  # type: ignore[misc]

    def _close(self) -> None:
        with self._ending_turn():
            super()._close()  # type: ignore[misc]

    def _take_turn(self) -> None:
        turn = _TURNS[str(self.settings_dict["NAME"])]
        if not turn.acquire(timeout=self.settings_dict["OPTIONS"].get("timeout", _DEFAULT_TIMEOUT_SECONDS)):
            raise OperationalError("database is locked: another thread of this process has not ended its transaction")
        self._turn = turn

    def _end_turn(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.release()

    @contextmanager
    def _ending_turn(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._end_turn()
