"""Micropub create: requests a second and p99 without a photo, and with one of 4 MB over the floor of an upload."""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from bench.acknowledge import BYTES, PAIRS, Floor
from bench.figures import jpeg_of, report, seconds
from tests.processes.server import Server, running

CREATES = 400
CLIENTS = 4


def main(directory: Path) -> None:
    server = Server(directory / "data", workers=1)
    with running(server):
        token = server.token()
        # What is measured is the acknowledgement, not the rendering.
        for worker in server.children("worker"):
            worker.suspend()
        with httpx.Client(timeout=60, headers={"Authorization": f"Bearer {token}"}) as client:
            _notes(server, client)
            _photos(server, client, Floor(directory))
        for worker in server.children("worker"):
            worker.resume()


def _notes(server: Server, client: httpx.Client) -> None:
    def create(number: int) -> float:
        form = {"h": "entry", "content": f"Note {number}", "category": ["a", "b"]}
        return seconds(lambda: _created(client.post(f"{server.url}/micropub", data=form)))

    with ThreadPoolExecutor(CLIENTS) as threads:
        list(threads.map(create, range(-20, 0)))
        start = time.perf_counter()
        times = list(threads.map(create, range(CREATES)))
        taken = time.perf_counter() - start
    p99 = statistics.quantiles(times, n=100)[98]
    print(
        f"create without photo, {CLIENTS} clients: {CREATES / taken:.0f} requests a second,"
        f" median {statistics.median(times) * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms",
        flush=True,
    )


def _photos(server: Server, client: httpx.Client, floor: Floor) -> None:
    content = jpeg_of(BYTES)

    def create(number: int) -> None:
        form, files = {"h": "entry", "content": f"Photo {number}"}, {"photo": ("p.jpg", content, "image/jpeg")}
        _created(client.post(f"{server.url}/micropub", data=form, files=files))

    pairs = [
        (seconds(lambda number=number: create(number)), seconds(lambda: floor.write(content)))  # type: ignore[misc]
        for number in range(PAIRS)
    ][5:]
    report("create with a photo of 4 MB", [ours for ours, _ in pairs], [bare for _, bare in pairs], aim="reported")


def _created(answer: httpx.Response) -> None:
    assert answer.status_code == 201, answer.text
