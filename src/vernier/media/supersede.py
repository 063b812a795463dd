"""Supersede: how the Versions of one Media give way to each other. All of it with the Media row locked.

A newer Version takes the place of an unfinished one when it is accepted, and of a served one when it is Ready. Where
it fails, the unfinished one that it had replaced gets its turn after all.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import Max

from vernier.media.jobs import ring, ring_clean_up
from vernier.media.models import Media, Version

if TYPE_CHECKING:
    from uuid import UUID

    from vernier.media.conf import MediaSettings


def lock_media(media_id: UUID) -> Media:
    """Lock the row that Accept, Ready, fail and delete agree on; to be called first in their transaction."""
    return Media.objects.select_for_update().get(pk=media_id)


def supersede_unfinished(media: Media, *, now: datetime) -> None:
    """End what is unfinished of the Media; the originals stay until the newer Version has ended."""
    media.versions.unfinished().supersede(now=now)


def supersede_all(media: Media, *, now: datetime) -> None:
    """End what is unfinished or served of the Media: nothing of it is to be seen again."""
    media.versions.exclude(status__in=(Version.Status.FAILED, Version.Status.SUPERSEDED)).supersede(now=now)


def supersede_older(version: Version, *, now: datetime, conf: MediaSettings) -> None:
    """Give the place of all older Versions to this one, which is Ready; they are cleaned up after the grace."""
    older = version.media.versions.filter(number__lt=version.number)
    older.exclude(status__in=(Version.Status.FAILED, Version.Status.SUPERSEDED)).supersede(now=now)
    for over in older.filter(status=Version.Status.SUPERSEDED, cleanup_at=None):
        retire(over, now=now, conf=conf)


def retire(version: Version, *, now: datetime, conf: MediaSettings) -> None:
    """Have what is left of a superseded Version removed: its staged original now, the rest after the grace."""
    cleanup_at = now + timedelta(seconds=conf.cleanup_grace_seconds)
    Version.objects.filter(pk=version.pk).update(
        cleanup_at=cleanup_at, rung_at=cleanup_at, rings=0, staging_delete_at=now
    )
    ring_clean_up(version, at=cleanup_at)


def restore_predecessor(failed: Version, *, now: datetime) -> None:
    """Give the unfinished Version that `failed` had superseded its turn, unless a newer one waits or is served."""
    siblings = Version.objects.filter(media_id=failed.media_id)
    if siblings.unfinished().filter(number__gt=failed.number).exists():
        return
    served = siblings.filter(status=Version.Status.READY).aggregate(number=Max("number"))["number"] or 0
    predecessor = (
        siblings.filter(
            status=Version.Status.SUPERSEDED,
            ready_at=None,
            cleanup_at=None,
            number__gt=served,
            number__lt=failed.number,
        )
        .exclude(staging_key="")
        .order_by("-number")
        .first()
    )
    if predecessor is not None:
        siblings.filter(pk=predecessor.pk).restart(now=now)
        ring(predecessor)
