"""Sweep: remove files that no row names, when they were seen twice a full grace apart.

A file is removed only if a row can neither name it now nor come to name it before it is gone:

- A staged file has a random key, used once. Its row comes within the upload, which is shorter than the grace.
- A rendition or kept original is named only by a worker that holds its Version's lease. The sweep first makes sure
  that the Version is settled, which no transition undoes, and then looks for the row: a row that was written before
  is seen, and none can be written after. The same is asked again right before each removal.
- The Version of such a file may be yet to come (a restored database is older than its store) and then adopt the
  file. So its bytes are held until the removal has been followed by a last look, and put back where it finds a row
  or a Version at work. A kill in that moment leaves a row without its file, which the audit finds.
- A repair writes under random keys and names none for which there is a Sighting (see `repair`). A Sighting stands
  from the first look until after the removal.

What a clean-up is to remove is left to it: caches have to be told first. So is what lies beside a Ready Version that
lacks a rendition: the audit may need it.
"""

from __future__ import annotations

import logging
import re
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, storages

from vernier.media.brake import PAST_IT, brakes
from vernier.media.conf import media_settings
from vernier.media.keys import IMAGES_DIRECTORY, Owner, is_of_media, owner_of
from vernier.media.listing import list_page, require_present
from vernier.media.models import Rendition, Sighting, Version
from vernier.media.storages import PART_SUFFIX, STAGING, DatabaseStorage, read, stores_in_use

if TYPE_CHECKING:
    from collections.abc import Collection

    from django.core.files.storage import Storage
    from django.db.models import QuerySet

logger = logging.getLogger("vernier.media")

# Files that one step looks at: some milliseconds of queries by index.
LOOK_FILES = 500
# Orphans that are named to the operator.
NAMES_MAX = 20
# Files that one step removes: each is a durable write.
REMOVE_FILES = 50
# A larger file is no rendition, so that no Version adopts it and it need not be held in memory.
_HELD_BYTES_MAX = 64 * 1024 * 1024
# What this app writes. Where a store is shared, other names in it are another app's.
_STAGED = re.compile(rf"[0-9a-f]{{32}}(\.[0-9a-f]{{8}}{re.escape(PART_SUFFIX)})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one look has seen: files, those of them that no row names, and those that may be removed."""

    files: int
    orphans: int
    ripe: int
    # The first of the orphans.
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What one step has removed, and what its store has refused to delete."""

    files: int
    refused: int


def swept_aliases() -> list[str]:
    """Return the aliases of the stores to sweep; of several that hold the same files, the first."""
    aliases = stores_in_use()
    by_place = {_place(alias, storage): alias for alias, storage in reversed(aliases.items())}
    return [alias for alias in aliases if alias in by_place.values()]


def grace(alias: str) -> timedelta:
    """Return how far apart a file of the store is seen twice before it is removed."""
    conf = media_settings()
    return timedelta(seconds=conf.staging_grace_seconds if alias == STAGING else conf.sweep_grace_seconds)


def sweep_step(
    alias: str,
    after: str,
    now: datetime,
    *,
    started_at: datetime | None = None,
    remembers: bool = True,
) -> tuple[Seen, str]:
    """Look at the next files of a store; return what was seen, and the cursor: empty at the end.

    What no row names is remembered, and forgotten where that has changed, unless `remembers` is false. Nothing is
    written where nothing is wrong. Ripe is what may be removed in a round that began at `started_at` (now). Raises
    OSError where the store cannot be listed.
    """
    directory = "" if alias == STAGING else IMAGES_DIRECTORY
    page = list_page(storages[alias], directory, after=after, limit=LOOK_FILES)
    keys = [key for key in page.keys if _is_ours(alias, key)]
    orphans = find_orphans(alias, keys)
    sightings = dict(_sightings(alias).filter(key__in=keys).values_list("key", "seen_at"))
    if remembers:
        _remember(alias, orphans=orphans, sightings=sightings, now=now)
    ripe_at = (started_at or now) - grace(alias)
    ripe = [key for key in orphans if key in sightings and sightings[key] <= ripe_at]
    seen = Seen(files=len(keys), orphans=len(orphans), ripe=len(ripe), names=tuple(sorted(orphans)[:NAMES_MAX]))
    return seen, page.cursor


def remove_step(alias: str, after: str, now: datetime) -> tuple[Removed, str]:
    """Remove the next files that were seen a full grace ago and are still there unnamed; return the cursor as well.

    A file that cannot be removed keeps no other. Raises OSError where the store is not there.
    """
    require_present(storages[alias])
    ripe = _sightings(alias).filter(seen_at__lte=now - grace(alias), key__gt=after)
    keys = list(ripe.order_by("key").values_list("key", flat=True)[:REMOVE_FILES])
    removed = [_remove(alias, key) for key in keys]
    cursor = keys[-1] if len(keys) == REMOVE_FILES else ""
    return Removed(files=removed.count(True), refused=removed.count(None)), cursor


def find_orphans(alias: str, keys: Collection[str]) -> set[str]:
    """Return those of the keys that no row names and that no row can come to name."""
    if alias == STAGING:
        # Without the second condition, the first goes by no index.
        staged = Version.objects.filter(staging_key__in=keys).exclude(staging_key="")
        return set(keys) - set(staged.values_list("staging_key", flat=True))
    owners = {key: owner_of(key) for key in keys}
    versions = _versions({owner for owner in owners.values() if owner is not None})
    settled = {key for key, owner in owners.items() if owner not in versions or _lets_go(versions[owner])}
    named = set(Rendition.objects.filter(storage_key__in=settled).values_list("storage_key", flat=True))
    named |= {version.original_key for version in versions.values()}
    orphans = settled - named
    lacking = {owner for owner in {owners[key] for key in orphans} if owner in versions and _lacks(versions[owner])}
    return {key for key in orphans if owners[key] not in lacking}


@dataclass(slots=True, kw_only=True)
class SweepRound:
    """One look at a whole store, and then, unless the brake stops it, the removal of what is ripe.

    It is kept in memory by whoever takes its steps: an idle server writes nothing. One that is lost begins anew.
    """

    alias: str
    is_forced: bool = False
    is_dry: bool = False
    files: int = 0
    orphans: int = 0
    ripe: int = 0
    names: list[str] = field(default_factory=list)
    removed: int = 0
    refused: int = 0
    is_looking: bool = True
    is_over: bool = False
    started_at: datetime | None = None
    _cursor: str = ""

    @property
    def is_braked(self) -> bool:
        return not self.is_forced and brakes(self.ripe, of=self.files)

    def step(self, now: datetime) -> None:
        """Take the next step of the round; raises OSError, after which it may be taken again."""
        if self.is_looking:
            self._look(now)
        else:
            self._remove(now)

    def _look(self, now: datetime) -> None:
        self.started_at = self.started_at or now
        seen, self._cursor = sweep_step(
            self.alias, self._cursor, now, started_at=self.started_at, remembers=not self.is_dry
        )
        self.files += seen.files
        self.orphans += seen.orphans
        self.ripe += seen.ripe
        self.names += seen.names[: NAMES_MAX - len(self.names)]
        if self._cursor:
            return
        self.is_looking = False
        self.is_over = self.is_dry or self.is_braked
        if self.is_braked:
            logger.error(
                "The sweep stops: %d of %d files in %s have no row. If that is right: %s",
                self.ripe,
                self.files,
                self.alias,
                PAST_IT,
                extra={"event": "sweep_braked", "store": self.alias},
            )

    def _remove(self, now: datetime) -> None:
        # What has ripened since the round began has not passed the brake.
        removed, self._cursor = remove_step(self.alias, self._cursor, min(now, self.started_at or now))
        self.removed += removed.files
        self.refused += removed.refused
        self.is_over = not self._cursor


def _place(alias: str, storage: Storage) -> tuple[bool, object]:
    is_staging = alias == STAGING
    if isinstance(storage, DatabaseStorage):
        return is_staging, DatabaseStorage
    return is_staging, storage.location if isinstance(storage, FileSystemStorage) else id(storage)


def _is_ours(alias: str, key: str) -> bool:
    if not _is_text(key):
        return False
    if alias != STAGING:
        return is_of_media(key)
    if isinstance(storages[alias], FileSystemStorage):
        # A directory of its own, in which hidden files belong to the file system.
        return not key.startswith(".")
    return bool(_STAGED.fullmatch(key))


def _is_text(key: str) -> bool:
    """Tell whether a row can remember it: a directory may hold names whose bytes are not UTF-8, none of them ours."""
    try:
        key.encode()
    except UnicodeEncodeError:
        return False
    return True


def _sightings(alias: str) -> QuerySet[Sighting]:
    return Sighting.objects.filter(store=alias)


def _remember(alias: str, *, orphans: set[str], sightings: dict[str, datetime], now: datetime) -> None:
    """Write down what is seen first; forget what has got a row, and what a clock has put in the future."""
    over = [key for key, seen_at in sightings.items() if key not in orphans or seen_at > now]
    if over:
        _sightings(alias).filter(key__in=over).delete()
    new = sorted(orphans - (sightings.keys() - set(over)))
    if new:
        # Another sweep may have been faster: then its time stands.
        Sighting.objects.bulk_create(
            [Sighting(store=alias, key=key, seen_at=now) for key in new], ignore_conflicts=True
        )


def _versions(owners: set[Owner]) -> dict[Owner | None, Version]:
    media_ids, numbers = {media_id for media_id, _ in owners}, {number for _, number in owners}
    found = Version.objects.filter(media_id__in=media_ids, number__in=numbers).select_related("media")
    return {(version.media_id, version.number): version for version in found}


def _lets_go(version: Version) -> bool:
    return version.is_settled and not version.awaits_clean_up


def _lacks(version: Version) -> bool:
    return version.status == Version.Status.READY and version.missing_variants() != ()


def _remove(alias: str, key: str) -> bool | None:
    """Remove the file if it still has no row; return whether it was removed, or None where the store refused."""
    storage = storages[alias]
    try:
        removed = storage.exists(key) and _delete(alias, storage, key)
    except FileNotFoundError:
        # Another has removed it meanwhile.
        removed = False
    except OSError as error:
        logger.warning("not swept: %s (%s)", key, error, extra={"event": "not_swept", "store": alias})
        return None
    _sightings(alias).filter(key=key).delete()
    if removed:
        logger.info("swept %s from %s", key, alias, extra={"event": "swept", "store": alias})
    return removed


def _delete(alias: str, storage: Storage, key: str) -> bool:
    is_held = alias != STAGING and storage.size(key) <= _HELD_BYTES_MAX
    held = read(storage, key) if is_held else None
    # Last of all before the removal: reading takes a while.
    if not find_orphans(alias, [key]):
        return False
    storage.delete(key)
    if held is None or find_orphans(alias, [key]):
        return True
    with suppress(FileExistsError):
        storage.save(key, ContentFile(held))
    return False
