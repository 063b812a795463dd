"""`/metrics`: numbers about the pipeline in the Prometheus text format 0.0.4.

A scrape costs the same few indexed queries whatever the size of the archive. There are no ids among the numbers.
"""

from __future__ import annotations

import json
import math
import os
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Count, Max, Min, Sum
from django.http import Http404, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from vernier.authors.client_address import is_from_this_machine
from vernier.engines.ox import count_jobs
from vernier.mail.counts import count_mail
from vernier.media.models import Version
from vernier.site.data_directory import RUN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from django.http import HttpRequest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
FINDINGS_FILE = "findings.json"
_FAILURES_WITHIN = timedelta(hours=24)
_RECENT = timedelta(hours=1)
# The newest Versions, by primary key, are what "the last hour" is looked for in: no index has the times. A site that
# takes more uploads than this in an hour sees its numbers stop here.
SAMPLE_ROWS_MAX = 1000
_QUANTILES = (0.5, 0.95, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A number, and the labels that tell it from the others of its metric."""

    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A name, what it means, and its numbers; without any, it is left out."""

    name: str
    help: str
    samples: tuple[Sample, ...]
    type: str = "gauge"


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with every metric, to everybody if the setting says so, else to this machine alone; 404 to others."""
    if not (settings.VERNIER_METRICS_PUBLIC or is_from_this_machine(request)):
        raise Http404
    return HttpResponse(exposition(collect(timezone.now())), content_type=CONTENT_TYPE)


def exposition(found: Iterable[Metric]) -> str:
    """Return the metrics as text. The labels' values are words of this program: there is nothing to escape."""
    return "".join(line for metric in found for line in _lines(metric))


def collect(now: datetime) -> Iterator[Metric]:
    """Yield every metric."""
    yield from _unfinished(now)
    yield from _jobs()
    yield from _mail(now)
    yield _failures(now)
    yield from _recent(now)
    yield _findings()


def record_findings(findings: Mapping[str, int]) -> None:
    """Add what reconcile has found to the totals that `/metrics` shows. For the one process that keeps house.

    They are in a file beside the heartbeats: an idle server writes nothing to its database, and nothing here either.
    """
    if not any(findings.values()):
        return
    totals = _read_findings()
    for kind, count in findings.items():
        totals[kind] = totals.get(kind, 0) + count
    file = _findings_file()
    part = file.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(totals), encoding="ascii")
    part.replace(file)


def _lines(metric: Metric) -> Iterator[str]:
    if not metric.samples:
        return
    yield f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} {metric.type}\n"
    for sample in metric.samples:
        labels = ",".join(f'{name}="{value}"' for name, value in sample.labels.items())
        yield f"{metric.name}{{{labels}}} {sample.value:.15g}\n" if labels else f"{metric.name} {sample.value:.15g}\n"


def _unfinished(now: datetime) -> Iterator[Metric]:
    """Count the work in flight: one query for each status, because each has its own partial index."""
    found = {
        status.value: Version.objects.filter(status=status).aggregate(
            count=Count("pk"), oldest=Min("accepted_at"), attempted=Sum("attempts"), attempted_most=Max("attempts")
        )
        for status in (Version.Status.PENDING, Version.Status.PROCESSING)
    }

    def by_status(key: str) -> tuple[Sample, ...]:
        return tuple(Sample(labels={"status": status}, value=row[key] or 0) for status, row in found.items())

    yield Metric(name="vernier_versions", help="Unfinished Versions.", samples=by_status("count"))
    yield Metric(
        name="vernier_attempts", help="Attempts so far of all unfinished Versions.", samples=by_status("attempted")
    )
    yield Metric(
        name="vernier_attempts_max",
        help="Attempts so far of the unfinished Version that has most of them.",
        samples=by_status("attempted_most"),
    )
    oldest = found["pending"]["oldest"]
    yield Metric(
        name="vernier_oldest_pending_seconds",
        help="How long ago the oldest pending Version was accepted; 0 if none is pending.",
        samples=(Sample(value=0 if oldest is None else _seconds(now - oldest)),),
    )


def _jobs() -> Iterator[Metric]:
    jobs = count_jobs()
    yield Metric(
        name="vernier_jobs",
        help="Jobs by state; those for a later time count as queued.",
        samples=(
            Sample(labels={"state": "queued"}, value=jobs.queued),
            Sample(labels={"state": "running"}, value=jobs.running),
        ),
    )


def _mail(now: datetime) -> Iterator[Metric]:
    counts = count_mail(now)
    unsent = (Sample(value=counts.unsent),)
    failed = (Sample(value=counts.failed),)
    yield Metric(name="vernier_mail_unsent", help="Mail that is still to be sent.", samples=unsent)
    yield Metric(name="vernier_mail_failed_day", help="Mail that has failed in the last 24 hours.", samples=failed)


def _failures(now: datetime) -> Metric:
    failed = Version.objects.filter(status=Version.Status.FAILED, failed_at__gt=now - _FAILURES_WITHIN)
    by_code = failed.order_by("failure_code").values_list("failure_code").annotate(count=Count("pk"))
    return Metric(
        name="vernier_failures_last_day",
        help="Versions that failed within the last 24 hours, by reason code.",
        samples=tuple(Sample(labels={"code": code}, value=count) for code, count in by_code),
    )


def _recent(now: datetime) -> Iterator[Metric]:
    newest = Version.objects.order_by("-pk").values_list("accepted_at", "ready_at")[:SAMPLE_ROWS_MAX]
    rows, since = list(newest), now - _RECENT
    yield Metric(
        name="vernier_uploads_last_hour",
        help=f"Uploads accepted within the last hour, up to {SAMPLE_ROWS_MAX}.",
        samples=(Sample(value=sum(accepted_at > since for accepted_at, _ in rows)),),
    )
    took = sorted(_seconds(ready_at - accepted_at) for accepted_at, ready_at in rows if ready_at and ready_at > since)
    yield Metric(
        name="vernier_ready_last_hour",
        help=f"How many of the newest {SAMPLE_ROWS_MAX} Versions became Ready within the last hour.",
        samples=(Sample(value=len(took)),),
    )
    yield Metric(
        name="vernier_ready_seconds",
        help="From accepted to Ready, of these Versions.",
        samples=tuple(Sample(labels={"quantile": f"{at:g}"}, value=_quantile(took, at)) for at in _QUANTILES if took),
    )


def _quantile(ordered: list[float], at: float) -> float:
    """Return the nearest rank."""
    return ordered[max(0, math.ceil(at * len(ordered)) - 1)]


def _seconds(duration: timedelta) -> float:
    """Return the seconds; a clock that went back does not make them negative."""
    return max(0.0, duration.total_seconds())


def _findings() -> Metric:
    return Metric(
        name="vernier_reconcile_found_total",
        help="What reconcile has found and put right, by kind.",
        type="counter",
        samples=tuple(Sample(labels={"kind": kind}, value=count) for kind, count in sorted(_read_findings().items())),
    )


def _read_findings() -> dict[str, int]:
    """Return the totals; none where there is no file yet, or it was damaged."""
    with suppress(OSError, ValueError):
        totals = json.loads(_findings_file().read_text(encoding="ascii"))
        if isinstance(totals, dict):
            return {kind: count for kind, count in totals.items() if kind.isidentifier() and isinstance(count, int)}
    return {}


def _findings_file() -> Path:
    return Path(settings.DATA_DIR) / RUN / FINDINGS_FILE
