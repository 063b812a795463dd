"""p99 of GET of a small page while 50 uploads of 12 megapixels drain, over idle."""

from __future__ import annotations

import statistics
import threading
import time
from pathlib import Path

import httpx

from bench.figures import seconds, twelve_megapixels, upload
from tests.processes.server import Server, running

UPLOADS = 50
REQUESTS = 600
PAUSE_SECONDS = 0.02


def main(directory: Path) -> None:
    content = twelve_megapixels()
    # The default. With two, nothing on two cores is left for pages, nor for this client.
    server = Server(directory / "data", workers=1)
    with running(server), httpx.Client(timeout=60) as client:
        token = server.token()
        _requests(server, 50)
        idle = _requests(server, REQUESTS)
        for _ in range(UPLOADS):
            upload(server.url, token, content, client)
        time.sleep(1)
        busy = _requests(server, REQUESTS)
        left = server.rows("SELECT count(*) FROM media_version WHERE status IN ('pending', 'processing')")[0][0]
        print(f"still to process at the end: {left} of {UPLOADS}")
        for share in (50, 99):
            slow, quick = _percentile(busy, share), _percentile(idle, share)
            print(
                f"p{share} of GET /: {slow * 1000:.1f} ms busy, {quick * 1000:.1f} ms idle,"
                f" ratio {slow / quick:.2f}" + (" (aim: 2 or less)" if share == 99 else ""),
                flush=True,
            )


def _requests(server: Server, count: int) -> list[float]:
    """Ask for the page so many times, with pauses as between readers."""
    times = []
    with httpx.Client(timeout=60) as client:
        for _ in range(count):
            times.append(seconds(lambda: client.get(server.url).raise_for_status()))
            threading.Event().wait(PAUSE_SECONDS)
    return times


def _percentile(times: list[float], share: int) -> float:
    return statistics.quantiles(times, n=100)[share - 1]
