"""A site as its operator has it: a data directory, the command `vernier`, and a server now and then."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import httpx
import psutil

COMMAND = [sys.executable, "-m", "vernier"]
START_SECONDS = 30
READY = re.compile(r"Vernier (?:is ready|listens) at (http://\S+)")


class Site:
    def __init__(self, data: Path) -> None:
        self.data = data
        self.servers = []

    def environ(self, **settings):
        return {
            "PATH": os.environ["PATH"],
            "PYTHONUNBUFFERED": "1",
            "VERNIER_DATA_DIR": str(self.data),
            **{f"VERNIER_{name}": str(value) for name, value in settings.items()},
        }

    def run(self, *arguments, **settings):
        """Run the command to its end; no traceback is ever shown to an operator."""
        done = subprocess.run(
            [*COMMAND, *arguments],
            env=self.environ(**settings),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def start(self, *arguments, bind="127.0.0.1:0", **settings):
        """Start a server and wait until it says where."""
        log = self.data.parent / f"server-{len(self.servers)}.log"
        with log.open("w") as stderr:
            process = subprocess.Popen(
                [*COMMAND, *(arguments or ("serve",)), "--bind", bind],
                env=self.environ(**settings),
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                start_new_session=True,
            )
        self.servers.append(process)
        line = process.stdout.readline()
        assert READY.match(line), (line, log.read_text())
        return Server(process, READY.match(line)[1], log)

    def kill(self):
        """Kill whatever still works on the data directory, children that have lost their server too."""
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get("VERNIER_DATA_DIR") == str(self.data):
                    process.kill()
        for server in self.servers:
            server.communicate()


class Server:
    def __init__(self, process, url, log) -> None:
        self.process = process
        self.url = url
        self.log = log

    def children(self, word=""):
        """Return the processes that the server has started, those with the word in their command line only."""
        found = psutil.Process(self.process.pid).children(recursive=True)
        return [child for child in found if word in _command_line(child)]

    def get(self, path, seconds=10):
        """Return the answer, as soon as there is one."""
        ends_at = time.monotonic() + seconds
        while True:
            try:
                return httpx.get(self.url + path, timeout=seconds)
            except httpx.TransportError:
                if time.monotonic() > ends_at:
                    raise
                time.sleep(0.05)

    def end(self, signum=signal.SIGTERM, seconds=10):
        """Send the signal; return the exit code."""
        self.process.send_signal(signum)
        return self.process.wait(seconds)


def wait_for(condition, seconds=10):
    """Wait until the condition holds; fail if it does not within so many seconds."""
    ends_at = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < ends_at, "it did not come about"
        time.sleep(0.05)
    return value


def _command_line(process):
    with suppress(psutil.NoSuchProcess):
        return " ".join(process.cmdline())
    return ""
