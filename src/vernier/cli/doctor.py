"""`vernier doctor`: look for everything that can be wrong, put it right, and say what needs a person.

It may be killed anywhere, run again, and run beside a server or another doctor: each repair is one guarded step, and
what is left undone is found again.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.utils import timezone
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from vernier.cli.examine import check_database, check_system, find_overdue
from vernier.media.audit import AuditRound, Kind, find_missing_originals
from vernier.media.brake import FILES_MAX, SHARE_MAX
from vernier.media.conf import media_settings
from vernier.media.models import Version
from vernier.media.reconcile import (
    BATCH_ROWS,
    discard_overdue,
    fail_spent,
    forget_keys,
    retry_refused_cleanups,
    ring_lost,
    ring_overdue_cleanups,
)
from vernier.media.repair import Outcome, repair_version
from vernier.media.sweep import SweepRound, swept_aliases

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

# What can be found, in the order of the report.
DATABASE_ERRORS = "database_errors"
FAILED_CHECKS = "failed_checks"
MISSING_STORES = "missing_stores"
LOST_JOBS = "lost_jobs"
STALE_LEASES = "stale_leases"
SPENT_ATTEMPTS = "spent_attempts"
OVERDUE_CLEANUPS = "overdue_cleanups"
REFUSED_CLEANUPS = "refused_cleanups"
OVERDUE_ORIGINALS = "overdue_originals"
ORPHAN_FILES = "orphan_files"
MISSING_FILES = "missing_files"
CORRUPT_FILES = "corrupt_files"
MISSING_ROWS = "missing_rows"
UNREADABLE_FILES = "unreadable_files"
RETURNED_FILES = "returned_files"
MISSING_ORIGINALS = "missing_originals"
FINDINGS = (
    DATABASE_ERRORS, FAILED_CHECKS, MISSING_STORES, LOST_JOBS, STALE_LEASES, SPENT_ATTEMPTS, OVERDUE_CLEANUPS,
    REFUSED_CLEANUPS,
    OVERDUE_ORIGINALS, ORPHAN_FILES, MISSING_FILES, CORRUPT_FILES, MISSING_ROWS, UNREADABLE_FILES, RETURNED_FILES,
    MISSING_ORIGINALS,
)  # fmt: skip
_OF_KIND = {
    Kind.MISSING: MISSING_FILES,
    Kind.CORRUPT: CORRUPT_FILES,
    Kind.NO_ROW: MISSING_ROWS,
    Kind.UNREADABLE: UNREADABLE_FILES,
    Kind.BACK: RETURNED_FILES,
}


@dataclass(slots=True, kw_only=True)
class Report:
    """How much of each kind was found and put right; `waiting` counts orphans that the grace still protects."""

    found: Counter[str] = field(default_factory=Counter)
    repaired: Counter[str] = field(default_factory=Counter)
    waiting: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def left(self) -> Counter[str]:
        return self.found - self.repaired

    @property
    def ok(self) -> bool:
        return self.left.total() == self.left[ORPHAN_FILES] <= self.waiting

    def count(self, kind: str, *, found: int, left: int) -> None:
        """Add what a look before and a look after the repair have found; others may have been at work meanwhile."""
        self.found[kind] += max(found, left)
        self.repaired[kind] += max(found, left) - left


def run(arguments: argparse.Namespace) -> int:
    report = _Doctor(is_dry=arguments.dry_run, is_forced=arguments.force, progress=_progress()).run()
    if arguments.json:
        print(json.dumps(as_json(report), indent=2))
    else:
        print(as_text(report))
    for note in report.notes:
        print(f"vernier: {note}", file=sys.stderr)
    return 0 if report.ok else 1


def as_json(report: Report) -> dict[str, object]:
    """Return the report for programs: DESIGN section 11."""
    counts = {"found": report.found, "repaired": report.repaired, "left": report.left}
    return {"ok": report.ok} | {name: {kind: count[kind] for kind in FINDINGS} for name, count in counts.items()}


def as_text(report: Report) -> str:
    """Return the report for people."""
    lines = [
        f"{kind.replace('_', ' ').capitalize()}: {report.found[kind]} found, {report.repaired[kind]} repaired"
        for kind in FINDINGS
        if report.found[kind]
    ]
    if report.waiting:
        lines.append(f"{report.waiting} orphan files wait for their grace before they are removed.")
    return "\n".join([*lines, "All is well." if report.ok else "This needs a person; see the log for each."])


@dataclass(slots=True, kw_only=True)
class _Doctor:
    """One run: each stage looks, repairs unless it is a dry run, and counts into the report."""

    is_dry: bool
    is_forced: bool
    progress: Progress
    report: Report = field(default_factory=Report)

    def run(self) -> Report:
        stages: list[tuple[str, Callable[[], None]]] = [
            ("database", self._check),
            ("jobs", self._reconcile),
            ("originals", self._look_for_originals),
            *((f"files in {alias}", lambda alias=alias: self._sweep(alias)) for alias in swept_aliases()),
            ("renditions", self._audit),
        ]
        with self.progress:
            for name, stage in stages:
                try:
                    stage()
                except OSError as error:
                    # The other stages are done all the same: each looks at another store.
                    self.report.found[MISSING_STORES] += 1
                    self.report.notes.append(f"{name} could not be examined: {error}.")
        return self.report

    def _check(self) -> None:
        bar = self.progress.add_task("database", total=None)
        errors, failed = check_database(), check_system()
        self.report.found[DATABASE_ERRORS] += len(errors)
        self.report.found[FAILED_CHECKS] += len(failed.errors)
        self.report.notes += [*errors, *failed.errors, *failed.notes]
        self.progress.update(bar, total=1, completed=1)

    def _reconcile(self) -> None:
        now, conf = timezone.now(), media_settings()
        before = find_overdue(now, conf)
        if self.is_dry:
            self.report.found.update(before)
            return
        for _ in range(0, before[SPENT_ATTEMPTS], BATCH_ROWS):
            fail_spent(now, conf)
        for _ in range(0, before[LOST_JOBS], BATCH_ROWS):
            ring_lost(now, conf)
        for _ in range(0, before[OVERDUE_ORIGINALS], BATCH_ROWS):
            discard_overdue(now)
        for _ in range(0, before[OVERDUE_CLEANUPS], BATCH_ROWS):
            ring_overdue_cleanups(now, conf)
        if before[REFUSED_CLEANUPS]:
            retry_refused_cleanups(now)
            self.report.notes.append(
                "The files of some removed images are still there: a cache could not be purged, or a store did not"
                " delete. It is tried again now; the log tells why it failed."
            )
        forget_keys(now, conf)
        after = find_overdue(now, conf)
        # Its Version has a job now, which takes the lease over.
        after[STALE_LEASES] = 0
        for kind in before | after:
            self.report.count(kind, found=before[kind], left=after[kind])

    def _look_for_originals(self) -> None:
        lost = find_missing_originals()
        self.report.found[MISSING_ORIGINALS] += len(lost)
        self.report.notes += [f"The original of {version} is not in the staging store." for version in lost]

    def _sweep(self, alias: str) -> None:
        sweep = SweepRound(alias=alias, is_dry=self.is_dry, is_forced=self.is_forced)
        bar = self.progress.add_task(f"files in {alias}", total=None)
        while not sweep.is_over:
            sweep.step(timezone.now())
            self.progress.update(bar, completed=sweep.files)
        self.progress.update(bar, total=sweep.files)
        waiting = sweep.orphans - sweep.ripe
        self.report.waiting += waiting
        is_untouched = self.is_dry or sweep.is_braked
        # What was gone when its turn came was removed by another.
        self.report.count(
            ORPHAN_FILES, found=sweep.orphans, left=sweep.orphans if is_untouched else waiting + sweep.refused
        )
        if sweep.is_braked:
            self._note_brake(f"{sweep.ripe} of {sweep.files} files in {alias} have no row")

    def _audit(self) -> None:
        audit = AuditRound(is_forced=self.is_forced)
        bar = self.progress.add_task("renditions", total=Version.objects.count())
        while not audit.is_over:
            audit.step(with_checksum=True)
            self.progress.update(bar, completed=audit.versions)
        for kind, count in audit.found.items():
            self.report.found[_OF_KIND[kind]] += count
        if audit.is_braked:
            self._note_brake(f"{audit.new} of {audit.renditions} renditions are wrong")
        if not self.is_dry:
            self._repair(audit)

    def _repair(self, audit: AuditRound) -> None:
        to_repair = audit.by_version()
        bar = self.progress.add_task("repairs", total=len(to_repair))
        for version_id, damages in to_repair:
            outcomes = repair_version(version_id, timezone.now())
            # What is not wrong any more was put right by another.
            left = Counter(damage.kind for damage, outcome in outcomes.items() if outcome in _NEEDS_A_PERSON)
            for kind, count in Counter(damage.kind for damage in damages).items():
                self.report.repaired[_OF_KIND[kind]] += max(0, count - left[kind])
            self.progress.advance(bar)

    def _note_brake(self, what: str) -> None:
        self.report.notes.append(
            f"{what}: more than {FILES_MAX} and than {SHARE_MAX:.0%}. Is everything mounted? Nothing was touched; "
            "if it is right all the same, run vernier doctor --force."
        )


_NEEDS_A_PERSON = (Outcome.LOST, Outcome.LEFT)


def _progress() -> Progress:
    """Return bars on standard error that are shown on a terminal only, and gone at the end."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
