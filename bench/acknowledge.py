"""Time to 201 for a 4 MB JPEG, over the same bytes written, fsynced and one row committed by a bare script."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from bench.figures import RawClient, jpeg_of, report, seconds
from tests.processes.server import Server, running

PAIRS = 60
BYTES = 4_000_000


def main(directory: Path) -> None:
    content = jpeg_of(BYTES)
    server = Server(directory / "data", workers=1)
    # Rendering would compete for the processor: what is measured is the acknowledgement.
    with running(server):
        token = server.token()
        for worker in server.children("worker"):
            worker.suspend()
        floor, client = Floor(directory), RawClient(server.url, token, content)
        pairs = [(seconds(client.upload), seconds(lambda: floor.write(content))) for _ in range(PAIRS)][5:]
        report("time to 201", [ours for ours, _ in pairs], [bare for _, bare in pairs], aim="2.0 or less")
        for worker in server.children("worker"):
            worker.resume()


class Floor:
    """The least that a durable upload takes."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.number = directory / "floor", 0
        self.directory.mkdir()
        self.database = sqlite3.connect(directory / "floor.db", isolation_level=None)
        self.database.execute("PRAGMA journal_mode=WAL")
        self.database.execute("PRAGMA synchronous=FULL")
        self.database.execute("CREATE TABLE upload (id INTEGER PRIMARY KEY, name TEXT)")

    def write(self, content: bytes) -> None:
        self.number += 1
        name = str(self.number)
        with (self.directory / name).open("xb", buffering=0) as file:
            file.write(content)
            os.fsync(file.fileno())
        self.database.execute("INSERT INTO upload (name) VALUES (?)", (name,))
