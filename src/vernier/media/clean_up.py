"""Clean up: remove the files of a Version that has given way, or of a deleted Media, after caches were told.

Rows go before files, and what is to be done stands in the row until it is done: a clean-up that is killed anywhere is
done again, and one that comes twice finds nothing to do.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.module_loading import import_string

from vernier.media.conf import media_settings
from vernier.media.finish import discard_staged
from vernier.media.jobs import ring_clean_up, ring_clean_up_media
from vernier.media.keys import media_directory
from vernier.media.log import log_transition
from vernier.media.models import Media, Rendition, Version
from vernier.media.storages import STAGING, files_below, stores_in_use
from vernier.media.supersede import lock_media
from vernier.media.transitions import CLEANUP_RETRY

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from django.core.files.storage import Storage

logger = logging.getLogger("vernier.media")

# Tell caches that these Versions of a Media are gone; raising means that they still may have them.
Purge = Callable[[Media, list[Version]], None]


def clean_up_version(media_id: UUID, number: int, *, now: datetime | None = None) -> None:
    """Remove the renditions and the kept original of a Version that is superseded or failed, if it is time to."""
    now = now or timezone.now()
    rows, conf = Version.objects.filter(media_id=media_id, number=number), media_settings()
    version = rows.to_clean_up(now=now, conf=conf).select_related("media").filter(media__deleted_at=None).first()
    if version is None:
        return
    try:
        _purge(version.media, [version])
        with transaction.atomic():
            lock_media(media_id)
            if not rows.to_clean_up(now=now, conf=conf).exists():
                return
            Rendition.objects.filter(version=version).delete()
        _remove_files(version.directory)
    except Exception as error:
        _log_refusal(media_id, error)
        later = now + CLEANUP_RETRY
        rows.update(cleanup_at=later, rung_at=later, rings=0, cleanup_failures=F("cleanup_failures") + 1)
        ring_clean_up(version, at=later)
        raise
    discard_staged(version)
    with transaction.atomic():
        # A repair that came in between has made a row anew.
        Rendition.objects.filter(version=version).delete()
        rows.update(cleaned_at=now, original_key="")
    log_transition("cleaned up", media_id=media_id, version=number, attempt=version.attempts)


def clean_up_media(media_id: UUID, *, now: datetime | None = None) -> None:
    """Remove every file of a deleted Media, and every row but the tombstone."""
    now = now or timezone.now()
    media = Media.objects.to_clean_up(now=now).filter(pk=media_id).first()
    if media is None:
        return
    versions = list(media.versions.all())
    try:
        _purge(media, versions)
        _remove_files(media_directory(media_id))
    except Exception as error:
        _log_refusal(media_id, error)
        later = now + CLEANUP_RETRY
        Media.objects.filter(pk=media_id).update(
            cleanup_at=later, rung_at=later, rings=0, cleanup_failures=F("cleanup_failures") + 1
        )
        ring_clean_up_media(media, at=later)
        raise
    for version in versions:
        discard_staged(version)
    with transaction.atomic():
        # A staged original that could not be deleted keeps its row, by which reconcile finds it; this comes again.
        media.versions.filter(staging_key="").delete()
        if not media.versions.exists():
            Media.objects.filter(pk=media_id).update(cleaned_at=now)
    log_transition("cleaned up", media_id=media_id, version=media.newest_number, attempt=0)


def _purge(media: Media, versions: list[Version]) -> None:
    conf, served = media_settings(), [version for version in versions if version.ready_at is not None]
    if conf.purge is not None and served:
        purge: Purge = import_string(conf.purge)
        purge(media, served)


def _log_refusal(media_id: UUID, error: Exception) -> None:
    """Say why; the task engine logs the class of an error and no more."""
    facts = {"event": "clean_up_refused", "media": str(media_id)}
    logger.warning("clean-up refused media=%s: %s: %s", media_id, type(error).__name__, error, extra=facts)


def _remove_files(directory: str) -> None:
    """Remove what is below the directory in either store; a file that cannot be removed keeps no other."""
    stores = [store for alias, store in stores_in_use().items() if alias != STAGING]
    errors = [error for store in stores for error in _remove(store, files_below(store, directory))]
    if errors:
        raise errors[0]


def _remove(store: Storage, keys: Iterable[str]) -> Iterable[OSError]:
    for key in list(keys):
        try:
            store.delete(key)
        except OSError as error:
            logger.warning("not deleted: %s (%s)", key, error)
            yield error
