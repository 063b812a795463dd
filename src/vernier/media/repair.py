"""Repair: from a rendition that is missing or damaged to the very same bytes again, or to the knowledge of its loss.

The kept original is rendered anew, in the limited child and with the recipes of its Version. The same bytes go back;
others would change what an immutable address serves, so they become a new Version. What cannot be repaired is marked
lost: it is left out of pages, reported, and given back as soon as its file is there again.

Where a file of that name is there, the new one gets a random name: nothing is overwritten, and no sweep can have seen
that name before. A row comes to name it only if no sweep has seen it since (see `sweep`).
"""

from __future__ import annotations

import hashlib
import logging
import secrets
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import Exists, Value

from vernier.media.audit import Damage, Kind, examine
from vernier.media.conf import MediaSettings, media_settings
from vernier.media.exceptions import NoSpace, PermanentError, TransientError
from vernier.media.failures import FailureCode
from vernier.media.models import Rendition, Sighting, Version
from vernier.media.process import record_rendition
from vernier.media.remake import OriginalLost, kept_original, remake
from vernier.media.render import Rendered, Renderer, open_renderer
from vernier.media.signals import renditions_lost, send_on_commit
from vernier.media.storages import RENDITIONS, local_path, read, renditions_storage
from vernier.media.supersede import lock_media
from vernier.media.variants import EXTENSIONS, Format, Variant

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from datetime import datetime

    from django.db.models import QuerySet

    from vernier.media.process import OpenRenderer

logger = logging.getLogger("vernier.media")


class Outcome(StrEnum):
    """What has become of one damage."""

    REPAIRED = "repaired"
    # Its Version gives way to a new one, made from the same original.
    REPLACED = "replaced"
    LOST = "lost"
    # Something that may pass stood in the way: the next round tries again.
    LEFT = "left"


class _OtherBytes(Exception):  # noqa: N818 - it names what came out
    """Rendering gives other bytes than it gave when the Version became Ready."""


def repair_version(
    version_id: int,
    now: datetime,
    *,
    open_renderer: OpenRenderer = open_renderer,
    on_tick: Callable[[], None] = lambda: None,
) -> dict[Damage, Outcome]:
    """Look again at the renditions of a Version and put right what is wrong; return what has become of each.

    May be called at any time, any number of times, beside others: every write is guarded. What `on_tick` raises
    while the child works ends the repair.
    """
    version = _served(version_id)
    if version is None:
        return {}
    damages = list(examine(version, with_checksum=True))
    repair = _Repair(version=version, now=now, conf=media_settings(), open_renderer=open_renderer, on_tick=on_tick)
    broken = [damage for damage in damages if damage.kind not in {Kind.BACK, Kind.UNREADABLE}]
    outcomes = dict.fromkeys(damages, Outcome.LEFT)
    outcomes |= {damage: repair.give_back(damage) for damage in damages if damage.kind is Kind.BACK}
    outcomes |= repair.mend(broken) if broken else {}
    _remember_loss(version, is_lost=Outcome.LOST in outcomes.values(), now=now)
    return outcomes


def find_damages(version_id: int) -> list[Damage]:
    """Return what is wrong with the renditions of a Version now; nothing where they are to be no more."""
    version = _served(version_id)
    return [] if version is None else list(examine(version, with_checksum=True))


def _served(version_id: int) -> Version | None:
    """Return the Version unless it is deleted or cleaned up."""
    versions = Version.objects.select_related("media").prefetch_related("renditions")
    return versions.filter(pk=version_id, cleaned_at=None, media__deleted_at=None).first()


def _remember_loss(version: Version, *, is_lost: bool, now: datetime) -> None:
    """Have the author told once for each time that files of the Version are lost, however often that is found."""
    rows = Version.objects.filter(pk=version.pk)
    if not is_lost:
        rows.filter(lost_at__isnull=False).update(lost_at=None)
    elif rows.filter(lost_at=None).update(lost_at=now):
        send_on_commit(renditions_lost, version)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Repair:
    """One Version, and how it is rendered."""

    version: Version
    now: datetime
    conf: MediaSettings
    open_renderer: OpenRenderer
    on_tick: Callable[[], None]

    def give_back(self, damage: Damage) -> Outcome:
        """Serve a file again that was given up and has come back."""
        self._row(damage).filter(lost_at__isnull=False).update(lost_at=None)
        self._log("rendition back", damage)
        return Outcome.REPAIRED

    def mend(self, damages: list[Damage]) -> dict[Damage, Outcome]:
        try:
            return self._mend(damages)
        except PermanentError as error:
            logger.warning("%s cannot be rendered any more: %s", self.version, error)
            return self._lose(damages)
        except (TransientError, NoSpace, OSError, OriginalLost) as error:
            logger.warning("%s is not repaired yet: %s", self.version, error)
            return dict.fromkeys(damages, Outcome.LEFT)

    def _mend(self, damages: list[Damage]) -> dict[Damage, Outcome]:
        try:
            with kept_original(self.version) as path, self._renderer(path) as renderer:
                return {damage: self._mend_one(damage, renderer) for damage in damages}
        except OriginalLost:
            return self._without_original(damages)
        except _OtherBytes:
            return self._replace(damages)

    def _mend_one(self, damage: Damage, renderer: Renderer) -> Outcome:
        """Render what is missing, or raise _OtherBytes where that is not what was served."""
        rendered = renderer.render(self._variant(damage))
        if damage.kind is Kind.NO_ROW:
            left = self._left_file(damage, renderer)
            if left is not None and left.data != rendered.data:
                raise _OtherBytes
            return self._add(damage, rendered)
        row = self._row(damage).first()
        if row is None:
            return Outcome.LEFT
        if hashlib.sha256(rendered.data).hexdigest() != row.sha256:
            raise _OtherBytes
        return self._put_back(damage, row, rendered)

    def _put_back(self, damage: Damage, row: Rendition, rendered: Rendered) -> Outcome:
        """Store the bytes under the row's key, or where that is taken by others under a new one."""
        key = _store(row.storage_key, rendered) or _store(self._new_key(damage, row.extension), rendered)
        if key is None:
            return Outcome.LEFT
        moved = self._row(damage).filter(storage_key=row.storage_key, sha256=row.sha256)
        if key != row.storage_key:
            moved = moved.exclude(Exists(Sighting.objects.filter(store=RENDITIONS, key=Value(key))))
        if not moved.update(storage_key=key, lost_at=None) or not renditions_storage().exists(key):
            # Deleted, cleaned up or repaired by another meanwhile; what this one has stored is swept.
            return Outcome.LEFT
        if key != row.storage_key:
            with suppress(OSError):
                renditions_storage().delete(row.storage_key)
        self._log("rendition repaired", damage)
        return Outcome.REPAIRED

    def _add(self, damage: Damage, rendered: Rendered) -> Outcome:
        """Give a variant that has lost its row a new one, with a file of its own."""
        key = _store(self._new_key(damage, EXTENSIONS[rendered.format]), rendered)
        if key is None:
            return Outcome.LEFT
        with transaction.atomic():
            lock_media(self.version.media_id)
            is_wanted = Version.objects.filter(pk=self.version.pk, cleaned_at=None, media__deleted_at=None).exists()
            is_there = Rendition.objects.filter(version=self.version, variant=damage.variant).exists()
            is_seen = Sighting.objects.filter(store=RENDITIONS, key=key).exists()
            if not is_wanted or is_there or is_seen:
                return Outcome.LEFT
            record_rendition(self.version, damage.variant, rendered, key=key, now=self.now)
        self._log("rendition repaired", damage)
        return Outcome.REPAIRED

    def _without_original(self, damages: list[Damage]) -> dict[Damage, Outcome]:
        """Adopt the file that a lost row has left, if it is what the recipe makes; give everything else up."""
        found = {damage: self._verified_file(damage) for damage in damages if damage.kind is Kind.NO_ROW}
        added = {damage: self._add(damage, rendered) for damage, rendered in found.items() if rendered is not None}
        return self._lose([damage for damage in damages if damage not in added]) | added

    def _verified_file(self, damage: Damage) -> Rendered | None:
        try:
            with local_path(renditions_storage(), self._left_key(damage)) as path, self._renderer(path) as renderer:
                return self._left_file(damage, renderer)
        except FileNotFoundError:
            return None

    def _left_key(self, damage: Damage) -> str:
        return self.version.key_for(damage.variant, EXTENSIONS[self._format(damage)])

    def _format(self, damage: Damage) -> Format:
        version = self.version
        return self._variant(damage).format_for(image_type=version.image_type, has_alpha=version.has_alpha is True)

    def _left_file(self, damage: Damage, renderer: Renderer) -> Rendered | None:
        """Return the file under the key that the rendition must have had, if it decodes to what it is to be.

        That may be what has been served under this address, and there is no checksum of it any more.
        """
        size, variant, image_format = self.version.size, self._variant(damage), self._format(damage)
        assert size is not None
        try:
            data = read(renditions_storage(), self._left_key(damage))
            verified = renderer.verify(data)
        except FileNotFoundError:
            return None
        except TransientError as error:
            if error.code != FailureCode.STORAGE_UNAVAILABLE:
                raise
            # It does not decode: these are not the bytes of a rendition.
            return None
        if (verified.format, verified.size) != (image_format, variant.size_for(size)):
            return None
        return Rendered(data=data, format=verified.format, size=verified.size)

    def _replace(self, damages: list[Damage]) -> dict[Damage, Outcome]:
        """Let a new Version take the place of this one, if it is the one that is served; else give the files up."""
        newer = self.version.media.versions.newer_than(self.version.number)
        if newer.unfinished().exists():
            return dict.fromkeys(damages, Outcome.REPLACED)
        if newer.exclude(status=Version.Status.FAILED).exists():
            return self._lose(damages)
        is_remade = remake(self.version, self.conf, now=self.now)
        return dict.fromkeys(damages, Outcome.REPLACED if is_remade else Outcome.LEFT)

    def _lose(self, damages: list[Damage]) -> dict[Damage, Outcome]:
        """Mark the renditions lost; what a superseded Version has lost goes with it, and nobody need do anything."""
        for damage in damages:
            is_new = damage.kind is Kind.NO_ROW or self._row(damage).filter(lost_at=None).update(lost_at=self.now)
            if is_new:
                self._log("rendition lost", damage, level=logging.ERROR)
        is_over = self.version.status == Version.Status.SUPERSEDED
        return dict.fromkeys(damages, Outcome.REPLACED if is_over else Outcome.LOST)

    def _variant(self, damage: Damage) -> Variant:
        return next(variant for variant in self.version.recipes if variant.name == damage.variant)

    def _row(self, damage: Damage) -> QuerySet[Rendition]:
        return Rendition.objects.filter(version=self.version, variant=damage.variant)

    def _new_key(self, damage: Damage, extension: str) -> str:
        return self.version.key_for(f"{damage.variant}.{secrets.token_hex(8)}", extension)

    def _renderer(self, path: str) -> AbstractContextManager[Renderer]:
        return self.open_renderer(
            path,
            image_type=self.version.image_type,
            variants=self.version.recipes,
            settings=self.conf,
            on_tick=self.on_tick,
        )

    def _log(self, event: str, damage: Damage, *, level: int = logging.INFO) -> None:
        logger.log(
            level,
            "%s media=%s version=%d variant=%s (%s)",
            event,
            self.version.media_id,
            self.version.number,
            damage.variant,
            damage.kind,
            extra={
                "event": event,
                "media": str(self.version.media_id),
                "version": self.version.number,
                "variant": damage.variant,
            },
        )


def _store(key: str, rendered: Rendered) -> str | None:
    """Create the file and return its key, or None where the name is taken by other bytes; raise TransientError."""
    storage = renditions_storage()
    with suppress(FileExistsError):
        storage.save(key, ContentFile(rendered.data))
        if read(storage, key) != rendered.data:
            raise TransientError(FailureCode.STORAGE_UNAVAILABLE, f"{key} was not read back as it was written")
        return key
    return key if read(storage, key) == rendered.data else None
