"""Pages and feeds with 10 and with 100,000 posts behind the first twenty: time, p99, requests per second and core."""

from __future__ import annotations

import statistics
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import httpx

from bench.figures import seconds
from tests.processes.server import Server, running

FEW, MANY = 10, 100_000
REQUESTS = 300
PATHS = ("/", "/rss.xml", "/atom.xml", "/feed.json", "/tags/light", "/authors/alice", "/archive")


def main(directory: Path) -> None:
    with ExitStack() as stack:
        few, many = (_Site(stack, directory / f"{count}", count) for count in (FEW, MANY))
        for path in PATHS:
            for site in (few, many):
                site.measure(path, 20)
            # In turn and in small pieces: what else the machine does hits both.
            pieces = [(few.measure(path, 10), many.measure(path, 10)) for _ in range(REQUESTS // 10)]
            _report(path, [one for one, _ in pieces], [other for _, other in pieces])


class _Site:
    """A running server with its posts."""

    def __init__(self, stack: ExitStack, directory: Path, count: int) -> None:
        self.server = Server(directory)
        self.server.token()
        subprocess.run(
            [sys.executable, "-m", "bench.fill_posts", str(count)], env=self.server.environment, check=True
        )
        stack.enter_context(running(self.server))
        self.client = stack.enter_context(httpx.Client(timeout=60))

    def measure(self, path: str, count: int) -> tuple[list[float], float]:
        """Return how long each request took, and the processor time of the server for one."""
        (web,) = self.server.children("web")
        start = sum(web.cpu_times()[:2])
        times = [seconds(lambda: self.client.get(self.server.url + path).raise_for_status()) for _ in range(count)]
        return times, (sum(web.cpu_times()[:2]) - start) / count


def _report(path: str, few: list[tuple[list[float], float]], many: list[tuple[list[float], float]]) -> None:
    times = [[time for piece, _ in pieces for time in piece] for pieces in (few, many)]
    ratio = statistics.median(times[1]) / statistics.median(times[0])
    for name, taken, pieces in (("10", times[0], few), ("100,000", times[1], many)):
        p99 = statistics.quantiles(taken, n=100)[98]
        per_core = 1 / statistics.mean(cpu for _, cpu in pieces)
        print(
            f"{path} with {name} posts: median {statistics.median(taken) * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms,"
            f" {per_core:.0f} requests per second and core"
        )
    print(f"{path}: ratio {ratio:.2f} (aim: less than 1.3)", flush=True)
