"""What `vernier doctor` asks about the database and its rows; nothing is written here."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from django.apps import apps
from django.core.checks import ERROR, CheckMessage, run_checks
from django.db import connection
from django.db.models import F, ForeignKey, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from vernier.cli.errors import tell_checks
from vernier.cli.report import NAMES_MAX, Finding
from vernier.media.models import Media, Version
from vernier.media.reconcile import BATCH_ROWS, is_lost, is_unheard, live_jobs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from django.db.models import Model, QuerySet

    from vernier.media.conf import MediaSettings

# A damaged database has one cause, whatever the number of its symptoms.
_DATABASE_ERRORS_MAX = 20
_UNREADABLE = {
    "DateTimeField": 'julianday("{0}") IS NULL',
    "UUIDField": """length("{0}") <> 32 OR "{0}" GLOB '*[^0-9a-f]*'""",
}
# Whose lease it is, the database alone compares; the next claim replaces the token.
_NEVER_READ = {Version._meta.get_field("lease_token")}  # noqa: SLF001 - a documented name


@dataclass(slots=True, kw_only=True)
class Findings:
    """How much of each kind there is, and what the first of each are called."""

    counts: Counter[Finding] = field(default_factory=Counter)
    names: defaultdict[Finding, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, kind: Finding, names: Iterable[object], *, count: int | None = None) -> None:
        """Add what is named, or `count` of which these are the first."""
        listed = [str(name) for name in names]
        self.counts[kind] += len(listed) if count is None else count
        self.names[kind] += listed[: NAMES_MAX - len(self.names[kind])]


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
        # By Django's own methods: what SQLite's cursor raises is none of Django's errors.
        cursor.execute(f"PRAGMA integrity_check({_DATABASE_ERRORS_MAX})")
        integrity = cursor.fetchall()
        cursor.execute("PRAGMA foreign_key_check")
        dangling = cursor.fetchmany(_DATABASE_ERRORS_MAX)
    wrong = [f"The database is damaged: {line}." for (line,) in integrity if line != "ok"]
    wrong += [f"Row {row} of {table} names a row of {other} that is not there." for table, row, other, _ in dangling]
    # Where the file itself is damaged, more reading finds the same again.
    return wrong if wrong and integrity != [("ok",)] else [*wrong, *islice(_unreadable(), _DATABASE_ERRORS_MAX)]


def _unreadable() -> Iterator[str]:
    """Name the values that Django cannot load: SQLite takes any text for a time or a UUID."""
    for model in apps.get_models():
        table = model._meta.db_table  # noqa: SLF001 - a documented name
        for column, is_unreadable in _columns(model):
            with connection.cursor() as cursor:
                cursor.execute(
                    f'SELECT rowid, CAST("{column}" AS TEXT) FROM "{table}"'  # noqa: S608 - names of our models
                    f' WHERE "{column}" IS NOT NULL AND ({is_unreadable.format(column)}) LIMIT {_DATABASE_ERRORS_MAX}'
                )
                found = cursor.fetchall()
            yield from (
                f"Row {row} of {table} has {value!r} in {column}, which cannot be read." for row, value in found
            )


def _columns(model: type[Model]) -> Iterator[tuple[str, str]]:
    """Yield those that have a time or a UUID, and the condition under which they have none."""
    for concrete in model._meta.concrete_fields:  # noqa: SLF001 - a documented name
        kind = (concrete.target_field if isinstance(concrete, ForeignKey) else concrete).get_internal_type()
        if kind in _UNREADABLE and concrete.column is not None and concrete not in _NEVER_READ:
            yield concrete.column, _UNREADABLE[kind]


def check_media() -> list[str]:
    """Return what is wrong between Media and their Versions, as far as no audit of one Version can see it."""
    newest = Version.objects.filter(media=OuterRef("pk")).order_by("-number").values("number")[:1]
    lacking = Media.objects.live().annotate(found=Coalesce(Subquery(newest), 0)).exclude(newest_number=F("found"))
    return [
        f"The image {media.pk} has no row of its newest Version {media.newest_number}."
        for media in lacking.order_by("pk")[:_DATABASE_ERRORS_MAX]
    ]


def check_system() -> Checked:
    """Return what the system checks find, and which SQLite is linked."""
    messages = run_checks(databases=["default"])
    errors = [message for message in messages if message.level >= ERROR and not message.is_silenced()]
    others = [message for message in messages if message not in errors and not message.is_silenced()]
    linked = [f"SQLite {sqlite3.sqlite_version} is linked."] if connection.vendor == "sqlite" else []
    return Checked(errors=_sentences(errors), notes=linked + _sentences(others))


def find_overdue(now: datetime, conf: MediaSettings) -> Findings:
    """Count and name what reconcile would put right."""
    found = Findings()
    for batch in find_unfinished(now, conf):
        claimable = [version for version in batch if version.attempts < conf.max_attempts]
        live = live_jobs(conf) if claimable else None
        found.add(Finding.LOST_JOBS, [version for version in claimable if is_lost(version, live, now, conf)])
        found.add(
            Finding.STALE_LEASES, [version for version in claimable if version.status == Version.Status.PROCESSING]
        )
        found.add(Finding.SPENT_ATTEMPTS, [version for version in batch if version not in claimable])
    # What has become due since then is on its way.
    recent = Q(cleanup_at__gt=now - timedelta(seconds=2 * conf.reconcile_seconds), cleanup_at__lte=now)
    versions = Version.objects.to_clean_up(now=now, conf=conf).filter(media__deleted_at=None)
    for rows in (versions, Media.objects.to_clean_up(now=now)):
        # One that has been rung waits for a worker, as it does where the server is stopped.
        late = rows.exclude(recent).order_by("pk").iterator(chunk_size=BATCH_ROWS)
        found.add(Finding.OVERDUE_CLEANUPS, [row for row in late if is_unheard(row, now, conf)])
    _add_rows(found, Finding.REFUSED_CLEANUPS, Version.objects.refused().filter(media__deleted_at=None))
    _add_rows(found, Finding.REFUSED_CLEANUPS, Media.objects.refused())
    _add_rows(found, Finding.OVERDUE_ORIGINALS, Version.objects.to_discard(now=now))
    return found


def _add_rows(found: Findings, kind: Finding, rows: QuerySet[Version] | QuerySet[Media]) -> None:
    found.add(kind, rows.order_by("pk")[:NAMES_MAX], count=rows.count())


def find_unfinished(now: datetime, conf: MediaSettings) -> Iterator[list[Version]]:
    """Yield the Versions whose turn it is, batch by batch; the caller may write in between."""
    for turn in (Version.objects.waiting(now=now, conf=conf), Version.objects.abandoned(now=now, conf=conf)):
        after = 0
        while batch := list(turn.filter(pk__gt=after).order_by("pk")[:BATCH_ROWS]):
            yield batch
            after = batch[-1].pk


def _sentences(messages: list[CheckMessage]) -> list[str]:
    return [tell_checks([message]) for message in messages]
