"""Peak memory: of the web process during a 100 MB upload, and of worker and child for 50 megapixels."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from typing import Self

import httpx
import numpy as np
import psutil
from PIL import Image

from bench.figures import MEGA, jpeg_of, upload, wait_ready
from tests.processes.server import Server, running

MIB = 1024 * 1024


def main(directory: Path) -> None:
    server = Server(directory / "data", workers=1, upload_max_bytes=120 * MEGA)
    with running(server), httpx.Client(timeout=120) as client:
        token = server.token()
        wait_ready(upload(server.url, token, jpeg_of(2 * MEGA), client), token, client)
        web, worker = server.children("web")[0], server.children("worker")[0]
        with Peak(web) as peak:
            upload(server.url, token, jpeg_of(100 * MEGA), client)
        print(f"web, 100 MB upload: {peak} (aim: +10 MB)")
        with Peak(worker) as peak:
            wait_ready(upload(server.url, token, _fifty_megapixels(), client), token, client)
        print(f"worker with its children, 50 megapixels: {peak}")


class Peak:
    """The most resident memory that a process and its descendants have together, sampled."""

    def __init__(self, process: psutil.Process) -> None:
        self.process, self.ended = process, threading.Event()
        self.before = self.most = self._now()
        self.thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()

    def __str__(self) -> str:
        return (
            f"{self.before / MIB:.1f} MiB idle, {self.most / MIB:.1f} at most, +{(self.most - self.before) / MIB:.1f}"
        )

    def _watch(self) -> None:
        while not self.ended.wait(0.01):
            self.most = max(self.most, self._now())

    def _now(self) -> int:
        total = 0
        for process in [self.process, *self.process.children(recursive=True)]:
            try:
                total += process.memory_full_info().pss
            except psutil.Error:
                continue
        return total


def _fifty_megapixels() -> bytes:
    coarse = np.random.default_rng(2).integers(0, 255, (60, 80, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(coarse).resize((8165, 6124), Image.Resampling.BICUBIC).save(out, "JPEG", quality=90)
    return out.getvalue()
