"""Audit: compare the rows of what is served, or was until a moment ago, with the store.

A step takes a bounded batch of Versions by primary key, so that its cost does not grow with the archive, and only
reads. What is wrong is put right by `repair`, unless the brake stops it.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from vernier.media.brake import PAST_IT, brakes
from vernier.media.current import misleads
from vernier.media.keys import IMAGES_DIRECTORY
from vernier.media.listing import require_present
from vernier.media.models import Version
from vernier.media.storages import renditions_storage, sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from django.core.files.storage import Storage

logger = logging.getLogger("vernier.media")

# Versions that one step compares, with some five renditions each: a few hundred look-ups.
STEP_VERSIONS = 100
# What is wrong beyond this many files is counted, and put right by a later round: the list is kept in memory.
DAMAGES_MAX = 10_000
# So many files in a row that cannot be read are not their own fault.
_UNREADABLE_MAX = 10


class Kind(StrEnum):
    """What can be wrong with a rendition."""

    MISSING = "missing"
    CORRUPT = "corrupt"
    # A variant that the Version was Ready with and that has no row.
    NO_ROW = "no row"
    # The store does not say what it has; nothing is concluded from that.
    UNREADABLE = "unreadable"
    # It was given up, and its file is there again.
    BACK = "back"


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """What is wrong with one rendition; `is_known` where it was given up before. `name` is for the operator."""

    version_id: int
    variant: str
    name: str
    kind: Kind
    is_known: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What one step has compared, and what it has found; `misled` are the Media that name a wrong `current`."""

    versions: int
    renditions: int
    damages: tuple[Damage, ...]
    misled: tuple[UUID, ...]


def audit_step(after_pk: int, *, with_checksum: bool) -> tuple[Examined, int]:
    """Compare the next Versions with the store; return what was found, and the cursor: 0 at the end.

    Presence and size of each file, and with `with_checksum` its SHA-256. Raises OSError where the store is missing.
    """
    versions = list(
        Version.objects.filter(pk__gt=after_pk)
        .order_by("pk")
        .select_related("media__current")
        .prefetch_related("renditions")[:STEP_VERSIONS]
    )
    served = [version for version in versions if _is_audited(version)]
    renditions = sum(len(version.renditions.all()) for version in served)
    if renditions:
        require_present(renditions_storage(), IMAGES_DIRECTORY)
    damages = tuple(damage for version in served for damage in examine(version, with_checksum=with_checksum))
    _require_readable(damages)
    misled = tuple(dict.fromkeys(version.media_id for version in versions if misleads(version)))
    examined = Examined(versions=len(versions), renditions=renditions, damages=damages, misled=misled)
    return examined, versions[-1].pk if len(versions) == STEP_VERSIONS else 0


def examine(version: Version, *, with_checksum: bool) -> Iterable[Damage]:
    """Yield what is wrong with the renditions of a Version that was Ready."""
    storage, made = renditions_storage(), {rendition.variant: rendition for rendition in version.renditions.all()}
    for variant in version.required or ():
        if variant.name not in made:
            yield _damage(version, variant.name, Kind.NO_ROW)
    for rendition in made.values():
        is_known = rendition.lost_at is not None
        kind = compare(
            storage,
            rendition.storage_key,
            byte_size=rendition.byte_size,
            sha256=rendition.sha256 if with_checksum or is_known else None,
        )
        if kind is None and is_known:
            kind = Kind.BACK
        if kind is not None:
            yield _damage(version, rendition.variant, kind, is_known=is_known)


@dataclass(slots=True, kw_only=True)
class AuditRound:
    """A look at the Versions behind a cursor, at most so many renditions; then what is wrong is there to be repaired.

    Kept in memory by whoever takes its steps; the next round starts at `cursor`.
    """

    cursor: int = 0
    renditions_max: int | None = None
    is_forced: bool = False
    versions: int = 0
    renditions: int = 0
    found: Counter[Kind] = field(default_factory=Counter)
    # What was not known before: only that is weighed.
    new: int = 0
    damages: list[Damage] = field(default_factory=list)
    misled: list[UUID] = field(default_factory=list)
    is_over: bool = False

    @property
    def is_braked(self) -> bool:
        return not self.is_forced and brakes(self.new, of=self.renditions)

    def step(self, *, with_checksum: bool) -> None:
        """Take the next step; raises OSError, after which it may be taken again."""
        examined, self.cursor = audit_step(self.cursor, with_checksum=with_checksum)
        self.versions += examined.versions
        self.renditions += examined.renditions
        for damage in examined.damages:
            self.found[damage.kind] += 1
            self.new += damage.kind is not Kind.BACK and not damage.is_known
        self.damages += examined.damages[: DAMAGES_MAX - len(self.damages)]
        self.misled += examined.misled[: DAMAGES_MAX - len(self.misled)]
        is_enough = self.renditions_max is not None and self.renditions >= self.renditions_max
        self.is_over = not self.cursor or is_enough
        if self.is_over and self.is_braked:
            logger.error(
                "The audit stops: %d of %d renditions are wrong. If that is right: %s",
                self.new,
                self.renditions,
                PAST_IT,
                extra={"event": "audit_braked"},
            )

    def by_version(self) -> list[tuple[int, list[Damage]]]:
        """Return what is to be repaired, one Version after another; nothing where the brake is on."""
        damages = [] if self.is_braked else [damage for damage in self.damages if damage.kind is not Kind.UNREADABLE]
        return [(version_id, list(of_one)) for version_id, of_one in groupby(damages, lambda one: one.version_id)]


def _is_audited(version: Version) -> bool:
    """Whether its renditions are served: it is Ready or was, its files are not removed yet, its Media is live."""
    is_or_was_ready = version.status in {Version.Status.READY, Version.Status.SUPERSEDED} and version.ready_at
    return bool(is_or_was_ready) and version.cleaned_at is None and version.media.deleted_at is None


def _damage(version: Version, variant: str, kind: Kind, *, is_known: bool = False) -> Damage:
    return Damage(version_id=version.pk, variant=variant, name=f"{version} {variant}", kind=kind, is_known=is_known)


def compare(storage: Storage, key: str, *, byte_size: int, sha256: str | None) -> Kind | None:
    """Return what is wrong with a file, or None; its bytes are read if `sha256` is given."""
    try:
        if not storage.exists(key):
            return Kind.MISSING
        if storage.size(key) != byte_size:
            return Kind.CORRUPT
        if sha256 is not None and _sha256(storage, key) != sha256:
            return Kind.CORRUPT
    except FileNotFoundError:
        return Kind.MISSING
    except OSError as error:
        logger.warning("not audited: %s (%s)", key, error, extra={"event": "not_audited"})
        return Kind.UNREADABLE
    return None


def _sha256(storage: Storage, key: str) -> str:
    with storage.open(key) as stored:
        return sha256_of(stored)


def _require_readable(damages: tuple[Damage, ...]) -> None:
    unreadable = [damage for damage in damages if damage.kind is Kind.UNREADABLE]
    if len(unreadable) > _UNREADABLE_MAX:
        raise OSError(f"{len(unreadable)} files of one step could not be read; the store is not usable")
