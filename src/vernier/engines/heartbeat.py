"""Signs of life of the workers of this machine: files whose time moves while a worker looks for jobs.

They are outside the database on purpose: an idle server writes nothing there.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PATTERN = "worker-*.heartbeat"


def heartbeat_file(directory: Path) -> Path:
    """Return the file that the worker in this process keeps young."""
    return directory / f"worker-{os.getpid()}.heartbeat"


def youngest_heartbeat_seconds(directory: Path, *, now: float | None = None) -> float | None:
    """Return how long ago a worker gave a sign of life, or None if there has been none.

    `now` is a time as `time.time()` gives it. A time in the future counts as now: a clock has gone back.
    """
    now = time.time() if now is None else now
    return min((max(0.0, now - beat) for _, beat in _beats(directory)), default=None)


def remove_stale_heartbeats(directory: Path, *, older_than_seconds: float, now: float | None = None) -> None:
    """Remove the files of workers that have been gone for that long."""
    horizon = (time.time() if now is None else now) - older_than_seconds
    for file, beat in list(_beats(directory)):
        if beat < horizon:
            file.unlink(missing_ok=True)


def _beats(directory: Path) -> Iterator[tuple[Path, float]]:
    for file in directory.glob(_PATTERN):
        # A worker that ends removes its file.
        with suppress(FileNotFoundError):
            yield file, file.stat().st_mtime
