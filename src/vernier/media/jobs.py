"""Ring: enqueue the jobs of this app, as part of the caller's transaction.

Tasks are named by their paths, as the task engine stores them: what they run enqueues jobs in turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from datetime import datetime

    from django.tasks import Task

    from vernier.media.models import Media, Version

PROCESS_VERSION = "vernier.media.tasks.process_version"
CLEAN_UP_VERSION = "vernier.media.tasks.clean_up_version"
CLEAN_UP_MEDIA = "vernier.media.tasks.clean_up_media"


def ring(version: Version, *, at: datetime | None = None) -> None:
    """Have the Version processed, at once or at a time."""
    _enqueue(PROCESS_VERSION, at, str(version.media_id), version.number)


def ring_clean_up(version: Version, *, at: datetime | None = None) -> None:
    """Have the files of a Version that is over removed."""
    _enqueue(CLEAN_UP_VERSION, at, str(version.media_id), version.number)


def ring_clean_up_media(media: Media, *, at: datetime | None = None) -> None:
    """Have the files of a deleted Media removed."""
    _enqueue(CLEAN_UP_MEDIA, at, str(media.pk))


def _enqueue(path: str, at: datetime | None, *args: str | int) -> None:
    task: Task[..., None] = import_string(path)
    task.using(run_after=at).enqueue(*args)
