"""`vernier serve`: web, worker and schedule under one supervisor."""

from __future__ import annotations

import http.client
import ipaddress
import logging
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone

from vernier.authors.sign_in_link import invite_first_author
from vernier.cli.check_site import check_site
from vernier.cli.children import END_SECONDS, RESTART_SECONDS_MAX, Child
from vernier.cli.housekeeping import Housekeeping
from vernier.cli.listen import announce, listen, local_address, url_of
from vernier.cli.main import EXIT_INTERRUPTED
from vernier.cli.signals import STOP_SIGNALS, Signals
from vernier.engines.heartbeat import youngest_heartbeat_seconds
from vernier.site.data_directory import RUN, SERVE_LOCK
from vernier.site.exceptions import VernierError
from vernier.sqlite.file_lock import FileLock

if TYPE_CHECKING:
    import argparse
    import socket

logger = logging.getLogger("vernier.serve")

# A start takes one to three seconds.
READY_SECONDS_MAX = 30.0
_READY_POLL_SECONDS = 0.05


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal; return 0 after SIGTERM, 130 after Ctrl-C."""
    directory = Path(settings.DATA_DIR)
    lock = FileLock(directory / SERVE_LOCK)
    if not lock.try_acquire():
        raise VernierError(f"Another server is running on the data directory {directory}.")
    check_site()
    with listen(arguments.bind) as opened:
        announce(opened, directory)
        _warn_of_address(opened)
        return _serve(opened, arguments.workers, directory)


def _warn_of_address(opened: socket.socket) -> None:
    """Warn where other machines reach the server, but under an address that it does not know as its own."""
    host = opened.getsockname()[0]
    if not ipaddress.ip_address(host).is_loopback and not settings.ENVIRONMENT.is_given("BASE_URL"):
        logger.warning(
            "The server listens on %s but answers to %s only: set VERNIER_BASE_URL to the address that readers use.",
            host,
            url_of(opened),
            extra={"event": "base_url"},
        )


def _serve(opened: socket.socket, workers: int, directory: Path) -> int:
    signals = Signals()
    descriptor = opened.fileno()
    children = [Child("web", ["web", "--fd", str(descriptor)], pass_fds=(descriptor,))]
    children += [Child(f"worker {number}", ["worker"]) for number in range(1, workers + 1)]
    housekeeping = Housekeeping(directory)
    invitation = invite_first_author(now=timezone.now())
    housekeeping.start()
    threading.Thread(target=_tell_when_ready, args=[opened, directory, invitation], name="ready", daemon=True).start()
    try:
        return _supervise(children, signals)
    finally:
        for child in children:
            child.kill()
        housekeeping.stop()


def _supervise(children: list[Child], signals: Signals) -> int:
    """Keep the children running until a signal, then end them in time."""
    while True:
        now = time.monotonic()
        pause_seconds = min(child.keep_running(now) for child in children)
        stop = signals.wait(min(pause_seconds, RESTART_SECONDS_MAX)) & set(STOP_SIGNALS)
        if stop:
            logger.info("stopping", extra={"event": "stopping"})
            _end(children, signals)
            return EXIT_INTERRUPTED if signal.SIGINT in stop else 0


def _end(children: list[Child], signals: Signals) -> None:
    """Ask every child to end and wait; a second signal, or the end of patience, leaves the rest to be killed."""
    for child in children:
        child.signal(signal.SIGTERM)
    patience_ends_at = time.monotonic() + END_SECONDS
    while any(child.is_running for child in children):
        left_seconds = patience_ends_at - time.monotonic()
        if left_seconds <= 0 or signals.wait(left_seconds) & set(STOP_SIGNALS):
            return


def _tell_when_ready(opened: socket.socket, directory: Path, invitation: str | None) -> None:
    """Print the address, and the way in for a first author, once a worker lives and the site is well."""
    started_at = time.time()
    while not _is_ready(opened, directory, started_at):
        if time.time() - started_at > READY_SECONDS_MAX:
            logger.warning("not ready after %.0f s; see /healthz", READY_SECONDS_MAX, extra={"event": "not_ready"})
            return
        time.sleep(_READY_POLL_SECONDS)
    print(f"Vernier is ready at {url_of(opened)}", flush=True)
    if invitation is not None:
        print(
            f"There is no author yet. Make the first one, within 24 hours: {_base_url(opened)}{invitation}",
            flush=True,
        )


def _base_url(opened: socket.socket) -> str:
    """Return the address that readers use: the settings were read before the socket had one."""
    environment = settings.ENVIRONMENT
    return str(environment["BASE_URL"]) if environment.is_given("BASE_URL") else url_of(opened)


def _is_ready(opened: socket.socket, directory: Path, started_at: float) -> bool:
    age_seconds = youngest_heartbeat_seconds(directory / RUN)
    # What is older comes from an earlier run.
    has_worker = age_seconds is not None and age_seconds < time.time() - started_at
    return has_worker and _is_healthy(*local_address(opened))


def _is_healthy(host: str, port: int) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=READY_SECONDS_MAX)
    with suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/healthz", headers={"Host": "localhost"})
        return connection.getresponse().status == http.client.OK
    return False
