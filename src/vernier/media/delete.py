"""Delete: from a Media to its tombstone. Reads find nothing from the commit on; the files follow at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from vernier.media.jobs import ring_clean_up_media
from vernier.media.log import log_transition
from vernier.media.models import Media, Rendition
from vernier.media.supersede import supersede_all

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from django.contrib.auth.models import AbstractBaseUser


def delete_media(media_id: UUID, *, owner: AbstractBaseUser, now: datetime | None = None) -> None:
    """Delete a Media of `owner`; does nothing where that was done before, raises MediaNotFound for any other id."""
    now = now or timezone.now()
    with transaction.atomic():
        media = Media.objects.lock_own(media_id, owner_id=owner.pk)
        if media.deleted_at is not None:
            return
        supersede_all(media, now=now)
        Media.objects.filter(pk=media.pk).update(current=None, deleted_at=now, cleanup_at=now, rung_at=now)
        Rendition.objects.filter(version__media=media).delete()
        media.versions.exclude(staging_key="").update(staging_delete_at=now)
        ring_clean_up_media(media)
    log_transition("deleted", media_id=media.pk, version=media.newest_number, attempt=0)
