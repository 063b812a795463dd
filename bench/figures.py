"""Pictures to measure with, and how figures are put."""

from __future__ import annotations

import http.client
import io
import socket
import statistics
import time
from collections.abc import Callable

import httpx
import numpy as np
from PIL import Image

from tests.processes.photos import photos

MEGA = 1_000_000


def twelve_megapixels() -> bytes:
    """Return a camera photo of 12 megapixels, or one like it."""
    return next(photo.content for photo in photos() if len(photo.content) > MEGA)


def jpeg_of(byte_size: int) -> bytes:
    """Return a JPEG of exactly so many bytes: a photo with a comment segment behind it that fills it up."""
    out = io.BytesIO()
    picture = Image.fromarray(np.random.default_rng(1).integers(0, 255, (600, 900, 3), dtype=np.uint8))
    picture.save(out, "JPEG", quality=75)
    return out.getvalue() + bytes(byte_size - len(out.getvalue()))


class RawClient:
    """Sends a prepared upload in one piece, so that the client's own work is not measured."""

    def __init__(self, url: str, token: str, content: bytes) -> None:
        host, port = url.removeprefix("http://").split(":")
        self.connection = http.client.HTTPConnection(host, int(port), timeout=60)
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        part = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="p.jpg"\r\n\r\n'
        self.body = part + content + b"\r\n--edge--\r\n"
        self.headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "multipart/form-data; boundary=edge",
        }

    def upload(self) -> None:
        self.connection.request("POST", "/media", self.body, self.headers)
        answer = self.connection.getresponse()
        assert (answer.status, answer.read()[:7]) == (201, b'{"url":')


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def upload(url: str, token: str, content: bytes, client: httpx.Client) -> str:
    """Upload the file and return its URL."""
    answer = client.post(
        f"{url}/media",
        headers={"Authorization": f"Bearer {token}"},
        files={"file": ("photo.jpg", content, "image/jpeg")},
    )
    assert answer.status_code == 201, answer.text
    return answer.headers["Location"]


def wait_ready(location: str, token: str, client: httpx.Client) -> None:
    while True:
        answer = client.get(f"{location}/status?wait=30", headers={"Authorization": f"Bearer {token}"}, timeout=60)
        state = answer.json()["state"]
        assert state != "failed", answer.text
        if state == "ready":
            return


def report(label: str, ours: list[float], floor: list[float], *, aim: str) -> None:
    """Print medians and the median of the paired ratios."""
    ratio = statistics.median(mine / theirs for mine, theirs in zip(ours, floor, strict=True))
    print(
        f"{label}: {statistics.median(ours) * 1000:.1f} ms, floor {statistics.median(floor) * 1000:.1f} ms,"
        f" ratio {ratio:.2f} over {len(ours)} pairs (aim: {aim})",
        flush=True,
    )
