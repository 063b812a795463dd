"""Everything that knows the task engine django-ox: its worker, its rows and its clean-up.

The engine only rings: attempts, delays and leases are in the Version's row.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Count, Q
from django.tasks import DEFAULT_TASK_BACKEND_ALIAS, DEFAULT_TASK_QUEUE_NAME, task_backends
from django.utils import timezone
from django_ox import worker as ox
from django_ox.management.commands.ox_worker import install_stop_handlers
from django_ox.models import OxTask

from vernier.engines import NETWORK_QUEUE
from vernier.media import process
from vernier.media.conf import media_settings
from vernier.media.tasks import process_version
from vernier.media.transitions import CLOCK_SLACK

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from django.db.models import QuerySet

# Finished rows that one clean-up deletes: its transaction stays short, the next one takes the rest.
PRUNE_BATCH_ROWS = 500
# How often an idle worker looks for jobs that wait for other servers.
NETWORK_POLL_SECONDS = 1.0
_NETWORK_JOIN_SECONDS = 3.0

_FINISHED = (OxTask.Status.SUCCESSFUL, OxTask.Status.DISCARDED, OxTask.Status.FAILED, OxTask.Status.LOST)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCounts:
    """Jobs that wait, those for later included, and jobs that run."""

    queued: int
    running: int


class Worker(ox.Worker):
    """The engine's worker; when it is told to stop, the job that it runs hands its work back at once."""

    def request_stop(self) -> None:
        super().request_stop()
        process.request_stop()


def run_worker(*, heartbeat: Path, poll_seconds: float) -> None:
    """Run jobs until SIGTERM or SIGINT; a second signal ends the process on the spot.

    Jobs that wait for other servers have a thread of their own: images do not wait behind a mail server that hangs.
    """
    worker = _configured_worker(heartbeat=heartbeat, poll_seconds=poll_seconds, queues=[DEFAULT_TASK_QUEUE_NAME])
    network = ox.Worker(queues=[NETWORK_QUEUE], concurrency=1, poll_interval=NETWORK_POLL_SECONDS)
    thread = threading.Thread(target=network.run, name="network", daemon=True)
    retire = install_stop_handlers(worker)
    thread.start()
    try:
        worker.run()
    finally:
        network.request_stop()
        # What is still in the middle of a conversation then is done again: its row says that it is not over.
        thread.join(_NETWORK_JOIN_SECONDS)
        retire()
        heartbeat.unlink(missing_ok=True)


def drain() -> int:
    """Run every job that is due, those that they enqueue for now included, and return how many there were."""
    return _drain(_configured_worker())


def drain_until_signal() -> int:
    """Drain, but end at SIGTERM or SIGINT: then the running job hands its work back."""
    worker = _configured_worker()
    retire = install_stop_handlers(worker)
    try:
        return _drain(worker)
    finally:
        retire()


def live_jobs(now: datetime | None = None) -> set[tuple[UUID, int]]:
    """Return the (media id, version number) of every processing job that waits or runs.

    A running job whose lock has expired belongs to a worker that is gone. It counts as lost, so that the Version
    need not wait until the engine notices. A lock or a delay that lasts longer than any does, because a clock went
    back, counts as lost as well.
    """
    now = now or timezone.now()
    jobs = _unfinished().filter(task_path=process_version.module_path)
    delay_max = timedelta(seconds=media_settings().backoff_max_seconds)
    lock_max = timedelta(seconds=task_backends[DEFAULT_TASK_BACKEND_ALIAS].options["LOCK_TIMEOUT"])
    gone = Q(lease_expires_at__lte=now) | Q(lease_expires_at__gt=now + lock_max + CLOCK_SLACK)
    live = jobs.exclude(Q(status=OxTask.Status.RUNNING) & gone).exclude(
        status=OxTask.Status.READY, run_after__gt=now + delay_max + CLOCK_SLACK
    )
    return {(UUID(args[0]), int(args[1])) for args in live.values_list("args", flat=True).iterator()}


def count_jobs() -> JobCounts:
    counts = _unfinished().aggregate(
        queued=Count("pk", filter=Q(status=OxTask.Status.READY)),
        running=Count("pk", filter=Q(status=OxTask.Status.RUNNING)),
    )
    return JobCounts(**counts)


def prune(older_than: timedelta, *, now: datetime | None = None) -> int:
    """Delete a batch of the rows of jobs that finished so long ago; write nothing where there are none."""
    horizon = (now or timezone.now()) - older_than
    finished = OxTask.objects.filter(status__in=_FINISHED, finished_at__lt=horizon)
    old = list(finished.values_list("pk", flat=True)[:PRUNE_BATCH_ROWS])
    if old:
        # A row that was put back meanwhile does not match any more.
        finished.filter(pk__in=old).delete()
    return len(old)


def _configured_worker(
    *, heartbeat: Path | None = None, poll_seconds: float = 1, queues: list[str] | None = None
) -> ox.Worker:
    return ox.worker_class()(
        queues=queues,
        concurrency=1,
        poll_interval=poll_seconds,
        heartbeat_file=None if heartbeat is None else str(heartbeat),
    )


def _drain(worker: ox.Worker) -> int:
    # What a worker that was killed has left is due again when its lock has expired.
    worker.reap()
    ran = 0
    while not worker.stopping and worker.run_once():
        ran += 1
    return ran


def _unfinished() -> QuerySet[OxTask]:
    return OxTask.objects.filter(status__in=(OxTask.Status.READY, OxTask.Status.RUNNING))
