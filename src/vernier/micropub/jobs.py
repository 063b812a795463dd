"""Ring: enqueue the jobs of this app, as part of the caller's transaction.

The task is named by its path, as the task engine stores it: what it runs enqueues it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.utils.module_loading import import_string

from vernier.micropub.conf import micropub_settings

if TYPE_CHECKING:
    from datetime import datetime

    from django.tasks import Task

    from vernier.posts.models import Post

COPY_PHOTOS = "vernier.micropub.tasks.copy_photos"


def ring_copies(post: Post, *, attempt: int = 1, at: datetime | None = None) -> None:
    """Have the post's photos copied that are on a host from which they are to be."""
    if any(is_to_copy(photo.url) for photo in post.photos.all()):
        task: Task[..., None] = import_string(COPY_PHOTOS)
        task.using(run_after=at, queue_name=micropub_settings().queue).enqueue(str(post.pk), attempt)


def is_to_copy(url: str) -> bool:
    """Tell whether the operator has listed the host of the address; one of our own images has no address here."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return False
    return host in {name.lower() for name in micropub_settings().photo_hosts}
