"""Run jobs by hand, under a clock that the test moves."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django_ox.models import OxTask

from tests.media.factory import NOW, author
from tests.media.render_in_process import open_renderer_in_process
from vernier.media.accept import Upload
from vernier.media.clean_up import clean_up_media, clean_up_version
from vernier.media.models import Version
from vernier.media.process import process
from vernier.media.record import Accepted


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def tick(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def upload(content: bytes, clock: Clock, *, replaces: UUID | None = None, key: str | None = None) -> Accepted:
    with Upload() as received:
        received.write(content)
        return received.accept(owner=author(), replaces=replaces, idempotency_key=key, now=clock())


def version_of(accepted: Accepted) -> Version:
    return Version.objects.select_related("media").get(media_id=accepted.media_id, number=accepted.number)


def run_version(accepted: Accepted, clock: Clock) -> Version:
    """Deliver the job of one Version, and return the Version."""
    process(accepted.media_id, accepted.number, open_renderer=open_renderer_in_process, clock=clock)
    return version_of(accepted)


def run_due(clock: Clock) -> int:
    """Deliver every job that is due, and return how many there were."""
    count = 0
    for job in OxTask.objects.filter(status="READY").order_by("enqueued_at"):
        if job.run_after is None or job.run_after <= clock.now:
            job.delete()
            count += 1
            run_job(job, clock)
    return count


def run_job(job: OxTask, clock: Callable[[], datetime]) -> None:
    media_id = UUID(job.args[0])
    match job.task_path.rpartition(".")[2]:
        case "process_version":
            process(media_id, job.args[1], open_renderer=open_renderer_in_process, clock=clock)
        case "clean_up_version":
            clean_up_version(media_id, job.args[1], now=clock())
        case "clean_up_media":
            clean_up_media(media_id, now=clock())
        case unknown:
            raise AssertionError(f"nobody knows the job {unknown}")
