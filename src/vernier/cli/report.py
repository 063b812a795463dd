"""What the doctor has found, as it is told to people and to programs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# So many of each kind are named: enough to see what they have in common.
NAMES_MAX = 20


class Finding(StrEnum):
    """What can be found, in the order of the report."""

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
    CORRUPT_ORIGINALS = "corrupt_originals"
    UNREADABLE_ORIGINALS = "unreadable_originals"
    WRONG_CURRENT = "wrong_current"
    OVERDUE_MAIL = "overdue_mail"


@dataclass(slots=True, kw_only=True)
class Report:
    """How much of each kind was found and put right; `waiting` counts orphans that the grace still protects.

    `names` are the first of what is left of each kind.
    """

    found: Counter[Finding] = field(default_factory=Counter)
    repaired: Counter[Finding] = field(default_factory=Counter)
    names: dict[Finding, list[str]] = field(default_factory=dict)
    waiting: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def left(self) -> Counter[Finding]:
        return self.found - self.repaired

    @property
    def ok(self) -> bool:
        return self.left.total() == self.left[Finding.ORPHAN_FILES] <= self.waiting

    def count(self, kind: Finding, *, found: int, left: int) -> None:
        """Add what a look before and a look after the repair have found; others may have been at work meanwhile."""
        self.found[kind] += max(found, left)
        self.repaired[kind] += max(found, left) - left

    def leave(self, kind: Finding, names: Iterable[object]) -> None:
        """Name what is left of a kind, as far as there is room."""
        listed = self.names.setdefault(kind, [])
        listed += map(str, islice(names, NAMES_MAX - len(listed)))

    def left_names(self, kind: Finding) -> list[str]:
        return self.names.get(kind, [])[: self.left[kind]]


def as_json(report: Report) -> dict[str, object]:
    """Return the report for programs: counts by kind, and names of what is left."""
    counts = {"found": report.found, "repaired": report.repaired, "left": report.left}
    return (
        {"ok": report.ok}
        | {name: {kind: count[kind] for kind in Finding} for name, count in counts.items()}
        | {"left_names": {kind: report.left_names(kind) for kind in Finding if report.left_names(kind)}}
    )


def as_text(report: Report) -> str:
    """Return the report for people."""
    lines = [line for kind in Finding if report.found[kind] for line in _lines(report, kind)]
    if report.waiting:
        lines.append(f"{report.waiting} orphan files wait for their grace before they are removed.")
    return "\n".join([*lines, "All is well." if report.ok else "This needs a person; see the log for each."])


def _lines(report: Report, kind: Finding) -> list[str]:
    names = report.left_names(kind)
    others = report.left[kind] - len(names)
    return [
        f"{kind.replace('_', ' ').capitalize()}: {report.found[kind]} found, {report.repaired[kind]} repaired",
        *(f"  left: {name}" for name in names),
        *([f"  and {others} more"] if names and others else []),
    ]
