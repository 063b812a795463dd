"""Current: a Media serves the one of its Versions that is Ready, and nothing where none is."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from django.db import transaction

from vernier.media.models import Media, Version
from vernier.media.signals import send_on_commit, version_ready
from vernier.media.supersede import lock_media

if TYPE_CHECKING:
    from uuid import UUID

logger = logging.getLogger("vernier.media")


def misleads(version: Version) -> bool:
    """Tell whether the Media of this Version names another one as served than the one that is Ready, if any."""
    current = version.media.current
    if version.status == Version.Status.READY:
        return current != version and version.media.deleted_at is None
    return current is not None and (current.media_id, current.status) != (version.media_id, Version.Status.READY)


def repair_current(media_id: UUID) -> bool:
    """Have the Media serve its Ready Version, or nothing where there is none; return whether that was wrong.

    It says nothing of files and loses nothing, so that no brake weighs it.
    """
    with transaction.atomic():
        media = lock_media(media_id)
        ready = media.versions.filter(status=Version.Status.READY).order_by("-number").first()
        if media.deleted_at is not None or media.current_id == (ready and ready.pk):
            return False
        Media.objects.filter(pk=media.pk).update(current=ready)
        if ready is not None:
            send_on_commit(version_ready, ready)
    logger.error(
        "wrong current repaired media=%s", media_id, extra={"event": "wrong current", "media": str(media_id)}
    )
    return True
