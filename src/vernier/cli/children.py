"""The child processes of `serve`: started, started again, and ended."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

logger = logging.getLogger("vernier.serve")

RESTART_SECONDS = 0.2
RESTART_SECONDS_MAX = 10.0
# A child that has lived for so long has got over whatever ended the ones before it.
SETTLED_SECONDS = 30.0
# How long a child may take to end; afterwards it is killed. The whole server is to be out within ten seconds:
# housekeeping ends after the children, and where the machine is busy the interpreter itself takes two seconds.
END_SECONDS = 6.0


class Child:
    """A command that is kept running."""

    def __init__(self, name: str, arguments: list[str], *, pass_fds: tuple[int, ...] = ()) -> None:
        self.name = name
        self._command = [sys.executable, "-m", "vernier", *arguments, "--supervised"]
        self._pass_fds = pass_fds
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0
        self._delay_seconds = RESTART_SECONDS
        self._start_at = 0.0

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def keep_running(self, now: float) -> float:
        """Start it if it does not run and its time has come; return the seconds until it is to be started."""
        if self._process is not None and self._process.poll() is not None:
            self._note_end(self._process, now)
        if self._process is not None:
            return RESTART_SECONDS_MAX
        if now >= self._start_at:
            self._start(now)
        return max(0.0, self._start_at - now)

    def signal(self, signum: int) -> None:
        if self._process is not None and self.is_running:
            with suppress(ProcessLookupError):
                self._process.send_signal(signum)

    def kill(self) -> None:
        """End it and what it has started on the spot, if it still runs."""
        if self._process is not None and self.is_running:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _start(self, now: float) -> None:
        """Start it in a process group of its own: Ctrl-C is for the server, which tells its children.

        Its standard input is the lifeline: a pipe that closes when this process is gone, however that came about.
        """
        self._process = subprocess.Popen(  # noqa: S603 - this very interpreter
            self._command, stdin=subprocess.PIPE, pass_fds=self._pass_fds, process_group=0
        )
        self._started_at = now
        logger.info("started %s pid=%d", self.name, self._process.pid, extra={"event": "child_started"})

    def _note_end(self, process: subprocess.Popen[bytes], now: float) -> None:
        if process.stdin is not None:
            process.stdin.close()
        self._process = None
        if now - self._started_at >= SETTLED_SECONDS:
            self._delay_seconds = RESTART_SECONDS
        self._start_at = now + self._delay_seconds
        logger.warning(
            "%s pid=%d ended with %d; starts again in %.1f s",
            self.name,
            process.pid,
            process.returncode,
            self._delay_seconds,
            extra={"event": "child_ended"},
        )
        self._delay_seconds = min(self._delay_seconds * 2, RESTART_SECONDS_MAX)


def end_with_parent() -> None:
    """End this process, which `serve` has started, when `serve` is gone: as on SIGTERM, or hard if that hangs."""
    threading.Thread(target=_watch_lifeline, name="lifeline", daemon=True).start()


def _watch_lifeline() -> None:
    with suppress(OSError):
        while os.read(sys.stdin.fileno(), 1):
            pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(END_SECONDS)
    os.killpg(os.getpgid(0), signal.SIGKILL)
