"""Originals: those that are kept, and those that wait, compared with the rows that name them. Nothing is written.

Nobody can make an original anew, so what is wrong with one is reported for as long as it is. The row goes on naming
it: the file may come back with a disk or from a copy, which is seen by its checksum then; a row that was cleared
would call an image whole of which the original is gone.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from vernier.media.audit import DAMAGES_MAX, STEP_VERSIONS, Damage, compare
from vernier.media.keys import IMAGES_DIRECTORY
from vernier.media.listing import require_present
from vernier.media.models import Version
from vernier.media.storages import originals_storage, staging_storage

logger = logging.getLogger("vernier.media")

_UNFINISHED_MAX = 10_000
# Originals that one log line names.
_NAMES_MAX = 20
# What stands for the variant in the name of a damage.
_ORIGINAL = "original"


def originals_step(after_pk: int, *, with_checksum: bool) -> tuple[tuple[Damage, ...], int]:
    """Compare the kept originals of the next Versions with their store; return what is wrong, and the cursor.

    The cursor is 0 at the end. Raises OSError where the store is missing.
    """
    versions = list(Version.objects.filter(pk__gt=after_pk).order_by("pk").select_related("media")[:STEP_VERSIONS])
    kept = [version for version in versions if _is_kept(version)]
    if kept:
        require_present(originals_storage(), IMAGES_DIRECTORY)
    examined = [_examine(version, with_checksum=with_checksum) for version in kept]
    damages = tuple(damage for damage in examined if damage is not None)
    return damages, versions[-1].pk if len(versions) == STEP_VERSIONS else 0


def find_missing_staged() -> list[Version]:
    """Return the unfinished Versions whose staged original is not there; their jobs will fail them.

    Raises OSError where the staging store is missing.
    """
    storage = staging_storage()
    require_present(storage)
    return [
        version
        for status in (Version.Status.PENDING, Version.Status.PROCESSING)
        for version in Version.objects.filter(status=status)[:_UNFINISHED_MAX]
        if not storage.exists(version.staging_key)
    ]


@dataclass(slots=True, kw_only=True)
class OriginalsRound:
    """A look at all kept originals; kept in memory by whoever takes its steps."""

    cursor: int = 0
    count: int = 0
    damages: list[Damage] = field(default_factory=list)
    is_over: bool = False

    def step(self, *, with_checksum: bool) -> None:
        """Take the next step; raises OSError, after which it may be taken again."""
        damages, self.cursor = originals_step(self.cursor, with_checksum=with_checksum)
        self.count += len(damages)
        self.damages += damages[: DAMAGES_MAX - len(self.damages)]
        self.is_over = not self.cursor
        if self.is_over and self.count:
            logger.error(
                "%d kept originals are missing or damaged; the first of them: %s",
                self.count,
                ", ".join(damage.name for damage in self.damages[:_NAMES_MAX]),
                extra={"event": "originals_lost", "count": self.count},
            )


def _is_kept(version: Version) -> bool:
    """Whether its original is to be there: one that is removed before long is not missed."""
    return bool(version.original_key) and version.cleanup_at is None and version.media.deleted_at is None


def _examine(version: Version, *, with_checksum: bool) -> Damage | None:
    kind = compare(
        originals_storage(),
        version.original_key,
        byte_size=version.byte_size,
        sha256=version.sha256 if with_checksum else None,
    )
    if kind is None or not _is_named(version):
        return None
    return Damage(version_id=version.pk, variant=_ORIGINAL, name=f"{version} {_ORIGINAL}", kind=kind)


def _is_named(version: Version) -> bool:
    """Look again: it may have been superseded or deleted, and its files removed, since its row was read."""
    now = Version.objects.filter(pk=version.pk).select_related("media").first()
    return now is not None and _is_kept(now)
