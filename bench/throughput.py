"""Images a minute through the pipeline with two workers, over two processes that run the bare loop."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import httpx

from bench.bare import render_all
from bench.figures import seconds, twelve_megapixels, upload
from tests.processes.server import Server, running, wait_until

IMAGES = 16
PROCESSES = 2
ROUNDS = 3


def main(directory: Path) -> None:
    content = twelve_megapixels()
    path = directory / "photo.jpg"
    path.write_bytes(content)
    server = Server(directory / "data", workers=PROCESSES)
    with running(server), multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        token = server.token()
        pool.map(render_all, [str(path)] * PROCESSES, chunksize=1)
        for _ in range(ROUNDS):
            bare = seconds(lambda: pool.map(render_all, [str(path)] * IMAGES, chunksize=1))
            ours = seconds(lambda: _through_the_pipeline(server, token, content))
            print(
                f"throughput: {IMAGES / ours * 60:.1f} images a minute, bare {IMAGES / bare * 60:.1f},"
                f" ratio {bare / ours:.2f} (aim: 0.9 or more)",
                flush=True,
            )


def _through_the_pipeline(server: Server, token: str, content: bytes) -> None:
    with httpx.Client(timeout=60) as client:
        for _ in range(IMAGES):
            upload(server.url, token, content, client)
    unfinished = "SELECT count(*) FROM media_version WHERE status IN ('pending', 'processing')"
    wait_until(lambda: server.rows(unfinished) == [(0,)], 600, "the images do not become Ready")
