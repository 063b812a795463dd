"""`vernier status`."""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from django.db import connection
from django.db.models import Count, Min
from django.utils import timezone
from rich.console import Console
from rich.live import Live
from rich.text import Text

from vernier.engines.ox import count_jobs
from vernier.mail.counts import count_mail
from vernier.media.models import Version
from vernier.sqlite.checks import check_library

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from datetime import datetime

    from vernier.media.transitions import Status

# The last failures that are shown; the others are in the rows.
FAILURES_SHOWN = 10
# Soon enough to see a queue move, seldom enough to be no load.
WATCH_SECONDS = 2.0

_STYLES = {
    Version.Status.PENDING: "yellow",
    Version.Status.PROCESSING: "cyan",
    Version.Status.READY: "green",
    Version.Status.FAILED: "red",
    Version.Status.SUPERSEDED: "dim",
}


def run(arguments: argparse.Namespace) -> int:
    if arguments.json:
        print(json.dumps(status(timezone.now()), indent=2))
        return 0
    # Lines are cut by whoever reads them; on a terminal that is the terminal.
    console = Console(highlight=False, soft_wrap=True)
    if arguments.watch:
        _watch(console)
    console.print(_look())
    return 0


def status(now: datetime) -> dict[str, Any]:
    """Return the Versions by status, the jobs, the age of the oldest pending Version and the last failures."""
    jobs = count_jobs()
    return {
        "versions": _versions(),
        "jobs": {"queued": jobs.queued, "running": jobs.running},
        "oldest_pending_seconds": _oldest_seconds(Version.Status.PENDING, "accepted_at", now),
        "mail": asdict(count_mail(now)),
        "failures": _failures(),
    }


def as_text(report: dict[str, Any], *, oldest_processing_seconds: float | None) -> Text:
    """Return the report for people: uploads that wait and those being worked on apart, each with its age."""
    lines = [
        Text("Uploads: ") + Text(", ").join(_counts(report["versions"])),
        _age("Oldest pending upload", report["oldest_pending_seconds"], style="yellow"),
        _age("Oldest processing upload", oldest_processing_seconds, style="cyan"),
        Text(f"Jobs: {report['jobs']['queued']} queued, {report['jobs']['running']} running"),
        *_mail(report["mail"]),
        *map(_failure, report["failures"]),
        *(Text.assemble(("Warning", "yellow"), f": {warning}") for warning in _warnings()),
    ]
    return Text("\n").join(lines)


def _watch(console: Console) -> None:
    """Show the report anew until Ctrl-C: in its place on a terminal, one after the other elsewhere."""
    if not console.is_terminal:
        while True:
            console.print(_look(), end="\n\n")
            time.sleep(WATCH_SECONDS)
    # What is drawn in its place counts its lines: those left to the terminal to break would be cut.
    with Live(console=Console(highlight=False), auto_refresh=False, vertical_overflow="crop") as live:
        while True:
            live.update(_look(), refresh=True)
            time.sleep(WATCH_SECONDS)


def _look() -> Text:
    now = timezone.now()
    processing = _oldest_seconds(Version.Status.PROCESSING, "claimed_at", now)
    return as_text(status(now), oldest_processing_seconds=processing)


def _versions() -> dict[str, int]:
    counted = dict(Version.objects.order_by().values_list("status").annotate(count=Count("pk")))
    return {str(status): counted.get(str(status), 0) for status in Version.Status}


def _oldest_seconds(status: Status, since: str, now: datetime) -> float | None:
    oldest = Version.objects.filter(status=status).aggregate(at=Min(since))["at"]
    return None if oldest is None else max(0.0, round((now - oldest).total_seconds(), 1))


def _failures() -> list[dict[str, Any]]:
    failed = Version.objects.filter(status=Version.Status.FAILED).order_by("-failed_at")[:FAILURES_SHOWN]
    return [
        {
            "media": str(version.media_id),
            "version": version.number,
            "code": version.failure_code,
            "message": version.get_failure_code_display(),
            "detail": version.failure_detail,
            "failed_at": version.failed_at.isoformat() if version.failed_at else None,
        }
        for version in failed
    ]


def _counts(versions: dict[str, int]) -> Iterator[Text]:
    for status, count in versions.items():
        yield Text(f"{count} {status}", style=_STYLES[Version.Status(status)] if count else "dim")


def _age(name: str, seconds: float | None, *, style: str) -> Text:
    return Text.assemble(f"{name}: ", "none" if seconds is None else (f"{seconds:.0f} s", style))


def _mail(mail: dict[str, Any]) -> Iterator[Text]:
    """Yield a line about mail where there is something to say."""
    if mail["unsent"] or mail["failed"]:
        yield Text(f"Mail: {mail['unsent']} to be sent, {mail['failed']} failed today") + Text(
            ", the mail server takes none" if mail["is_paused"] else "", style="red"
        )


def _failure(failure: dict[str, Any]) -> Text:
    return Text.assemble(("Failed", "red"), " {failed_at}: {media} v{version}: {code}: {message}".format_map(failure))


def _warnings() -> Iterator[str]:
    """Yield what an operator should know of the SQLite that this program uses."""
    if connection.vendor == "sqlite":
        yield from (f"{found.msg} {found.hint}" for found in check_library(sqlite3.sqlite_version_info))
