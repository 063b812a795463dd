"""What `vernier doctor` asks about the database and its rows; nothing is written here."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.core.checks import ERROR, CheckMessage, run_checks
from django.db import connection

from vernier.cli.errors import tell_checks
from vernier.media.models import Media, Version
from vernier.media.reconcile import BATCH_ROWS, is_lost, live_jobs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vernier.media.conf import MediaSettings

# A damaged database has one cause, whatever the number of its symptoms.
_DATABASE_ERRORS_MAX = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What Django's system checks have said, as sentences."""

    errors: list[str]
    notes: list[str]


def check_database() -> list[str]:
    """Return what SQLite finds wrong with its file, and rows that name rows which do not exist."""
    if connection.vendor != "sqlite":
        return []
    with connection.cursor() as cursor:
        integrity = cursor.execute(f"PRAGMA integrity_check({_DATABASE_ERRORS_MAX})").fetchall()
        dangling = cursor.execute("PRAGMA foreign_key_check").fetchmany(_DATABASE_ERRORS_MAX)
    wrong = [f"The database is damaged: {line}." for (line,) in integrity if line != "ok"]
    return wrong + [
        f"Row {row} of {table} names a row of {other} that is not there." for table, row, other, _ in dangling
    ]


def check_system() -> Checked:
    """Return what the system checks find, and which SQLite is linked."""
    messages = run_checks(databases=["default"])
    errors = [message for message in messages if message.level >= ERROR and not message.is_silenced()]
    others = [message for message in messages if message not in errors and not message.is_silenced()]
    linked = [f"SQLite {sqlite3.sqlite_version} is linked."] if connection.vendor == "sqlite" else []
    return Checked(errors=_sentences(errors), notes=linked + _sentences(others))


def find_overdue(now: datetime, conf: MediaSettings) -> Counter[str]:
    """Count what reconcile would put right."""
    found: Counter[str] = Counter()
    for batch in find_unfinished(now, conf):
        claimable = [version for version in batch if version.attempts < conf.max_attempts]
        live = live_jobs(conf) if claimable else None
        found["lost_jobs"] += sum(is_lost(version, live, now, conf) for version in claimable)
        found["stale_leases"] += sum(version.status == Version.Status.PROCESSING for version in claimable)
        found["spent_attempts"] += len(batch) - len(claimable)
    overdue = now - timedelta(seconds=2 * conf.reconcile_seconds)
    versions = Version.objects.to_clean_up(now=overdue).filter(media__deleted_at=None)
    found["overdue_cleanups"] = versions.count() + Media.objects.to_clean_up(now=overdue).count()
    refused = Version.objects.refused().filter(media__deleted_at=None)
    found["refused_cleanups"] = refused.count() + Media.objects.refused().count()
    found["overdue_originals"] = Version.objects.exclude(staging_key="").filter(staging_delete_at__lte=now).count()
    return found


def find_unfinished(now: datetime, conf: MediaSettings) -> Iterator[list[Version]]:
    """Yield the Versions whose turn it is, batch by batch; the caller may write in between."""
    for turn in (Version.objects.waiting(now=now, conf=conf), Version.objects.abandoned(now=now, conf=conf)):
        after = 0
        while batch := list(turn.filter(pk__gt=after).order_by("pk")[:BATCH_ROWS]):
            yield batch
            after = batch[-1].pk


def _sentences(messages: list[CheckMessage]) -> list[str]:
    return [tell_checks([message]) for message in messages]
