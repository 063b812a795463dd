"""Upload to Ready for a 12-megapixel photo on an idle machine, over a bare loop of the same decoding and encoding."""

from __future__ import annotations

from pathlib import Path

import httpx

from bench.bare import render_all
from bench.figures import report, seconds, twelve_megapixels, upload, wait_ready
from tests.processes.server import Server, running

PAIRS = 8


def main(directory: Path) -> None:
    content = twelve_megapixels()
    path = directory / "photo.jpg"
    path.write_bytes(content)
    server = Server(directory / "data", workers=1)
    with running(server), httpx.Client(timeout=60) as client:
        token = server.token()
        wait_ready(upload(server.url, token, content, client), token, client)
        render_all(str(path))
        pairs = [
            (
                seconds(lambda: wait_ready(upload(server.url, token, content, client), token, client)),
                seconds(lambda: render_all(str(path))),
            )
            for _ in range(PAIRS)
        ]
        ours, bare = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        report("upload to Ready", ours, bare, aim="1.3 times + 0.2 s")
        report("upload to Ready less 0.2 s", [mine - 0.2 for mine in ours], bare, aim="1.3 or less")
