"""A real server: `vernier serve` and its children on a data directory of their own."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil

START_SECONDS_MAX = 30


class Server:
    def __init__(self, data_directory: Path, *, workers: int = 1, **settings: object) -> None:
        self.data_directory = data_directory
        self.workers = workers
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("VERNIER_")}
        inherited.pop("DJANGO_SETTINGS_MODULE", None)
        given = {f"VERNIER_{name.upper()}": str(value) for name, value in settings.items()}
        self.environment = {
            **inherited,
            "VERNIER_DATA_DIR": str(data_directory),
            "VERNIER_BASE_URL": self.url,
            **given,
        }
        self.process: subprocess.Popen[bytes] | None = None
        self.log = data_directory.with_suffix(".log")

    def command(self, *arguments: str) -> str:
        """Run one `vernier` command and return what it printed on standard output."""
        done = subprocess.run(
            [sys.executable, "-m", "vernier", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout.strip()

    def token(self, scope: str = "create update delete media") -> str:
        """Make the author `alice` and a token of hers."""
        self.command("author", "create", "alice")
        return self.command("token", "create", "--author", "alice", "--scope", scope)

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "vernier",
                    "serve",
                    "--bind",
                    f"127.0.0.1:{self.port}",
                    "--workers",
                    str(self.workers),
                ],
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        wait_until(self.answers, START_SECONDS_MAX, "the server does not answer")

    def answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log.read_text()
        try:
            return httpx.get(f"{self.url}/healthz", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    def stop(self) -> int:
        """Send SIGTERM and return the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=15)

    def kill(self) -> None:
        """Kill the supervisor, and with it everything."""
        assert self.process is not None
        children = self.children("web", "worker")
        self.process.kill()
        self.process.wait()
        psutil.wait_procs(children, timeout=5)

    def children(self, *roles: str) -> list[psutil.Process]:
        """The processes under the supervisor that run `vernier web` or `vernier worker`."""
        assert self.process is not None
        found = []
        for child in psutil.Process(self.process.pid).children():
            try:
                words = child.cmdline()
            except psutil.Error:
                continue
            if any(role in words for role in roles):
                found.append(child)
        return found

    def rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Ask the database from outside, without touching it."""
        with closing(sqlite3.connect(f"file:{self.data_directory / 'vernier.db'}?mode=ro", uri=True)) as database:
            database.execute("PRAGMA busy_timeout = 10000")
            return database.execute(sql, parameters).fetchall()

    def staged(self) -> set[str]:
        return {path.name for path in (self.data_directory / "staging").iterdir()}


def wait_until(condition: Any, seconds_max: float, complaint: str) -> None:
    deadline = time.monotonic() + seconds_max
    while not condition():
        assert time.monotonic() < deadline, complaint
        time.sleep(0.05)


@contextmanager
def running(server: Server) -> Iterator[Server]:
    server.start()
    try:
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            server.kill()
