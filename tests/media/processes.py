"""What the tests of the child processes share: starting one, and seeing which are there."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from tests.media.rendering import SETTINGS
from vernier.media.child import client
from vernier.media.exceptions import ProcessingError
from vernier.media.render import open_renderer
from vernier.media.variants import DEFAULT_VARIANTS

# Longer than any limit that the tests set; a machine under load is slow.
PATIENCE_SECONDS = 10


def start(path, *, settings=SETTINGS, on_tick=lambda: None):
    return open_renderer(str(path), image_type="jpeg", variants=DEFAULT_VARIANTS, settings=settings, on_tick=on_tick)


def failure_of(path, *, settings=SETTINGS, ask=lambda renderer: renderer.measure()) -> ProcessingError:
    started = time.monotonic()
    with pytest.raises(ProcessingError) as caught, start(path, settings=settings) as renderer:
        ask(renderer)
    assert time.monotonic() - started < PATIENCE_SECONDS
    return caught.value


@contextmanager
def served_by(module: str) -> Iterator[None]:
    """Have children started by another fork server."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        client.stop()
        monkeypatch.setattr(client, "SERVER", module)
        yield
        client.stop()


def server_process() -> psutil.Process:
    return psutil.Process(client._servers[-1]._process.pid)


def children() -> list[psutil.Process]:
    return server_process().children(recursive=True)


def wait_until_gone(pids: list[int]) -> None:
    """Return once none of them runs; one that nobody has reaped yet does not."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while any(_is_running(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
