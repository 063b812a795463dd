"""`vernier status`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Min
from django.utils import timezone

from vernier.engines.ox import count_jobs
from vernier.media.failures import FailureCode
from vernier.media.models import Version

if TYPE_CHECKING:
    import argparse
    from datetime import datetime

# The last failures that are shown; the others are in the rows.
FAILURES_SHOWN = 10


def run(arguments: argparse.Namespace) -> int:
    report = status(timezone.now())
    print(json.dumps(report, indent=2) if arguments.json else as_text(report))
    return 0


def status(now: datetime) -> dict[str, Any]:
    """Return the Versions by status, the jobs, the age of the oldest pending Version and the last failures."""
    jobs = count_jobs()
    return {
        "versions": _versions(),
        "jobs": {"queued": jobs.queued, "running": jobs.running},
        "oldest_pending_seconds": _oldest_pending_seconds(now),
        "failures": _failures(),
    }


def as_text(report: dict[str, Any]) -> str:
    """Return the report for people."""
    versions = ", ".join(f"{count} {status}" for status, count in report["versions"].items())
    oldest = report["oldest_pending_seconds"]
    lines = [
        f"Uploads: {versions}",
        f"Jobs: {report['jobs']['queued']} queued, {report['jobs']['running']} running",
        f"Oldest pending upload: {'none' if oldest is None else f'{oldest:.0f} s'}",
    ]
    lines += map("Failed {failed_at}: {media} v{version}: {code}: {message}".format_map, report["failures"])
    return "\n".join(lines)


def _versions() -> dict[str, int]:
    counted = dict(Version.objects.order_by().values_list("status").annotate(count=Count("pk")))
    return {str(status): counted.get(str(status), 0) for status in Version.Status}


def _oldest_pending_seconds(now: datetime) -> float | None:
    oldest = Version.objects.filter(status=Version.Status.PENDING).aggregate(at=Min("accepted_at"))["at"]
    return None if oldest is None else max(0.0, round((now - oldest).total_seconds(), 1))


def _failures() -> list[dict[str, Any]]:
    failed = Version.objects.filter(status=Version.Status.FAILED).order_by("-failed_at")[:FAILURES_SHOWN]
    return [
        {
            "media": str(version.media_id),
            "version": version.number,
            "code": version.failure_code,
            "message": FailureCode(version.failure_code).label,
            "detail": version.failure_detail,
            "failed_at": version.failed_at.isoformat() if version.failed_at else None,
        }
        for version in failed
    ]
