"""The jobs: doorbells that name a row. Whatever a job is told, the Version row decides what is done."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.tasks import task

from vernier.media.process import process

if TYPE_CHECKING:
    from datetime import datetime

    from vernier.media.models import Version


@task
def process_version(media_id: str, number: int) -> None:
    process(UUID(media_id), number, ring=ring)


def ring(version: Version, *, at: datetime | None = None) -> None:
    """Enqueue a job for the Version, to run at once or at a time; part of the caller's transaction."""
    process_version.using(run_after=at).enqueue(str(version.media_id), version.number)
