"""`vernier doctor`: look for everything that can be wrong, put it right, and say what needs a person.

It may be killed anywhere, run again, and run beside a server or another doctor: each repair is one guarded step, and
what is left undone is found again.
"""

from __future__ import annotations

import json
import logging
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db import DatabaseError
from django.utils import timezone
from rich.progress import MofNCompleteColumn

from vernier.cli.examine import Findings, check_database, check_media, check_system, find_overdue
from vernier.cli.progress import bars
from vernier.cli.report import NAMES_MAX, Finding, Report, as_json, as_text
from vernier.mail.reconcile import find_overdue_mail, reconcile_mail
from vernier.media.audit import STEP_VERSIONS, AuditRound, Damage, Kind
from vernier.media.brake import FILES_MAX, SHARE_MAX
from vernier.media.conf import media_settings
from vernier.media.current import repair_current
from vernier.media.models import Sighting, Version
from vernier.media.originals import OriginalsRound, find_missing_staged
from vernier.media.reconcile import (
    BATCH_ROWS,
    discard_overdue,
    fail_spent,
    forget_keys,
    retry_refused_cleanups,
    ring_lost,
    ring_overdue_cleanups,
)
from vernier.media.repair import Outcome, find_damages, repair_version
from vernier.media.sweep import SweepRound, swept_aliases

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    from rich.progress import Progress

logger = logging.getLogger("vernier.doctor")

_OF_KIND = {
    Kind.MISSING: Finding.MISSING_FILES,
    Kind.CORRUPT: Finding.CORRUPT_FILES,
    Kind.NO_ROW: Finding.MISSING_ROWS,
    Kind.UNREADABLE: Finding.UNREADABLE_FILES,
    Kind.BACK: Finding.RETURNED_FILES,
}
_OF_ORIGINAL = {
    Kind.MISSING: Finding.MISSING_ORIGINALS,
    Kind.CORRUPT: Finding.CORRUPT_ORIGINALS,
    Kind.UNREADABLE: Finding.UNREADABLE_ORIGINALS,
}


def run(arguments: argparse.Namespace) -> int:
    report = _Doctor(is_dry=arguments.dry_run, is_forced=arguments.force, progress=bars(MofNCompleteColumn())).run()
    if arguments.json:
        print(json.dumps(as_json(report), indent=2))
    else:
        print(as_text(report))
    for note in report.notes:
        print(f"vernier: {note}", file=sys.stderr)
    return 0 if report.ok else 1


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
            ("newest Versions", self._check_media),
            ("jobs", self._reconcile),
            ("mail", self._reconcile_mail),
            ("originals in staging", self._look_for_staged),
            ("kept originals", self._audit_originals),
            *((f"files in {alias}", lambda alias=alias: self._sweep(alias)) for alias in swept_aliases()),
            ("renditions", self._audit),
        ]
        with self.progress:
            for name, stage in stages:
                try:
                    stage()
                except OSError as error:
                    # The other stages are done all the same: each looks at another store.
                    self.report.found[Finding.MISSING_STORES] += 1
                    self.report.notes.append(f"{name} could not be examined: {error}.")
                except DatabaseError as error:
                    # One that is locked or full is not damaged, and is told as for any other command.
                    if type(error) is not DatabaseError:
                        raise
                    self._give_up(error)
                    break
                except Exception as error:  # noqa: BLE001 - reported; the other stages are done all the same
                    self._leave_out(name, error)
        return self.report

    def _give_up(self, error: DatabaseError) -> None:
        """Report a file that SQLite cannot read: what is written to it makes it worse."""
        self.report.found[Finding.DATABASE_ERRORS] += 1
        self.report.notes.append(
            f"The database is damaged: {error}. Nothing more was examined; put a backup in its place with: "
            "vernier restore FILE"
        )

    def _leave_out(self, name: str, error: Exception) -> None:
        """Report rows that nobody could have written: which values are wrong is for the check of the database."""
        self.report.found[Finding.DATABASE_ERRORS] += 1
        self.report.notes.append(f"{name} could not be examined: {type(error).__name__}: {error}.")
        logger.debug("%s could not be examined.", name, exc_info=error)

    def _check(self) -> None:
        bar = self.progress.add_task("database", total=None)
        errors, failed = check_database(), check_system()
        self.report.found[Finding.DATABASE_ERRORS] += len(errors)
        self.report.found[Finding.FAILED_CHECKS] += len(failed.errors)
        self.report.notes += [*errors, *failed.errors, *failed.notes]
        self.progress.update(bar, total=1, completed=1)

    def _check_media(self) -> None:
        errors = check_media()
        self.report.found[Finding.DATABASE_ERRORS] += len(errors)
        self.report.notes += errors

    def _reconcile(self) -> None:
        now, conf = timezone.now(), media_settings()
        before = find_overdue(now, conf)
        found = before.counts
        if self.is_dry:
            self._take_over(before, before)
            return
        for _ in range(0, found[Finding.SPENT_ATTEMPTS], BATCH_ROWS):
            fail_spent(now, conf)
        for _ in range(0, found[Finding.LOST_JOBS], BATCH_ROWS):
            ring_lost(now, conf)
        for _ in range(0, found[Finding.OVERDUE_ORIGINALS], BATCH_ROWS):
            discard_overdue(now)
        for _ in range(0, found[Finding.OVERDUE_CLEANUPS], BATCH_ROWS):
            ring_overdue_cleanups(now, conf)
        if found[Finding.REFUSED_CLEANUPS]:
            retry_refused_cleanups(now)
            self.report.notes.append(
                "The files of some removed images are still there: a cache could not be purged, or a store did not"
                " delete. It is tried again now; the log tells why it failed."
            )
        forget_keys(now, conf)
        after = find_overdue(now, conf)
        # Its Version has a job now, which takes the lease over.
        after.counts[Finding.STALE_LEASES] = 0
        self._take_over(before, after)

    def _reconcile_mail(self) -> None:
        now = timezone.now()
        found = len(find_overdue_mail(now))
        if found and not self.is_dry:
            reconcile_mail(now)
        self.report.count(Finding.OVERDUE_MAIL, found=found, left=len(find_overdue_mail(now)))

    def _take_over(self, before: Findings, after: Findings) -> None:
        for kind in before.counts | after.counts:
            self.report.count(kind, found=before.counts[kind], left=after.counts[kind])
            self.report.leave(kind, after.names[kind])

    def _look_for_staged(self) -> None:
        lost = find_missing_staged()
        self.report.found[Finding.MISSING_ORIGINALS] += len(lost)
        self.report.leave(Finding.MISSING_ORIGINALS, (f"{version} in staging" for version in lost))

    def _audit_originals(self) -> None:
        audit = OriginalsRound()
        bar = self.progress.add_task("kept originals", total=Version.objects.count())
        while not audit.is_over:
            audit.step(with_checksum=True)
            self.progress.advance(bar, STEP_VERSIONS)
        for damage in audit.damages:
            self.report.found[_OF_ORIGINAL[damage.kind]] += 1
            self.report.leave(_OF_ORIGINAL[damage.kind], [damage.name])

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
            Finding.ORPHAN_FILES, found=sweep.orphans, left=sweep.orphans if is_untouched else waiting + sweep.refused
        )
        # What is still to be removed has been seen, unless nothing is to be written.
        seen = Sighting.objects.filter(store=alias).order_by("seen_at", "key").values_list("key", flat=True)
        self.report.leave(Finding.ORPHAN_FILES, sweep.names if self.is_dry else seen[:NAMES_MAX])
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
        self._point(audit)
        to_repair = [] if self.is_dry else audit.by_version()
        self._repair(to_repair)
        tried = {damage for _, damages in to_repair for damage in damages}
        self._leave(damage for damage in audit.damages if damage not in tried)

    def _point(self, audit: AuditRound) -> None:
        """Have each Media serve its Ready Version."""
        self.report.found[Finding.WRONG_CURRENT] += len(audit.misled)
        if self.is_dry:
            self.report.leave(Finding.WRONG_CURRENT, audit.misled)
            return
        for media_id in audit.misled:
            repair_current(media_id)
        self.report.repaired[Finding.WRONG_CURRENT] += len(audit.misled)

    def _repair(self, to_repair: list[tuple[int, list[Damage]]]) -> None:
        bar = self.progress.add_task("repairs", total=len(to_repair))
        for version_id, damages in to_repair:
            outcomes = repair_version(version_id, timezone.now())
            needy = _still_wrong(
                version_id, [damage for damage, outcome in outcomes.items() if outcome in _NEEDS_A_PERSON]
            )
            left = Counter(damage.kind for damage in needy)
            self._leave(needy)
            for kind, count in Counter(damage.kind for damage in damages).items():
                self.report.repaired[_OF_KIND[kind]] += max(0, count - left[kind])
            self.progress.advance(bar)

    def _leave(self, damages: Iterable[Damage]) -> None:
        for damage in damages:
            self.report.leave(_OF_KIND[damage.kind], [damage.name])

    def _note_brake(self, what: str) -> None:
        self.report.notes.append(
            f"{what}: more than {FILES_MAX} and than {SHARE_MAX:.0%}. Is everything mounted? Nothing was touched; "
            "if it is right all the same, run vernier doctor --force."
        )


_NEEDS_A_PERSON = (Outcome.LOST, Outcome.LEFT)


def _still_wrong(version_id: int, damages: list[Damage]) -> list[Damage]:
    """Return those that are there on a second look: what is not was put right, or removed, by another meanwhile."""
    found = {(damage.variant, damage.kind) for damage in find_damages(version_id)} if damages else set()
    return [damage for damage in damages if (damage.variant, damage.kind) in found]
