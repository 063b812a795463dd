"""Signals as things to wait for: nothing is done inside a handler."""

from __future__ import annotations

import os
import select
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# More signals than a process gets between two looks.
_READ_BYTES = 256


class Signals:
    """Collects the signals that end a process, and the end of a child; make it in the main thread."""

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        os.set_blocking(self._write_end, False)
        signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)
        for signum in (*STOP_SIGNALS, signal.SIGCHLD):
            signal.signal(signum, _nothing)

    def wait(self, seconds: float) -> set[int]:
        """Return the signals that have come, at once if there are any, else after `seconds` at most."""
        select.select([self._read_end], [], [], max(0.0, seconds))
        try:
            return set(os.read(self._read_end, _READ_BYTES))
        except BlockingIOError:
            return set()


def _nothing(signum: int, frame: FrameType | None) -> None:
    """Stand in for the default action; Python writes the signal to the pipe by itself."""
