"""How an author's images are doing, in the words of the editor: a few queries for any number of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from django.urls import get_script_prefix
from django.utils.timesince import timesince

from vernier.media.models import Version
from vernier.media.variants import FALLBACK, PHOTO
from vernier.media_api.links import rendition_url

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from vernier.media.models import Rendition

# The variant that a thumbnail shows; a narrower image has only `photo`.
_THUMBNAIL = "w480"
_LOST_REASON = "Files of this image were lost on the server. Please upload it again."


class State(StrEnum):
    """What an author is told. `lost` was ready once; `deleted` is a Media that a post still names."""

    QUEUED = "queued"
    PROCESSING = "processing"
    READY = "ready"
    FAILED = "failed"
    LOST = "lost"
    DELETED = "deleted"


_LABELS = {
    State.QUEUED: "Queued",
    State.PROCESSING: "Processing",
    State.READY: "Ready",
    State.FAILED: "Failed",
    State.LOST: "Lost",
    State.DELETED: "Deleted",
}
_BY_STATUS = {
    Version.Status.PENDING: State.QUEUED,
    Version.Status.PROCESSING: State.PROCESSING,
    Version.Status.READY: State.READY,
    Version.Status.SUPERSEDED: State.READY,
    Version.Status.FAILED: State.FAILED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What an `img` element shows: the small AVIF, and an image that every browser reads."""

    avif: str
    fallback: str
    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageState:
    """The newest Version of a Media as its author sees it; the picture is that of the one that is served."""

    media_id: UUID
    version: Version
    state: State
    picture: Picture | None
    # Why it is not ready, as a sentence.
    reason: str
    # How long it is in this state, in words.
    age: str
    can_process_again: bool

    @property
    def label(self) -> str:
        return _LABELS[self.state]

    @property
    def is_unfinished(self) -> bool:
        return self.state in {State.QUEUED, State.PROCESSING}

    @property
    def needs_author(self) -> bool:
        """Whether it stays as it is unless its author chooses another file."""
        return self.state in {State.FAILED, State.LOST, State.DELETED}


def image_states(media_ids: Iterable[UUID], *, owner_id: int, now: datetime) -> dict[UUID, ImageState]:
    """Return how those of the images are doing that are the author's, deleted ones included."""
    versions = (
        Version.objects.newest()
        .filter(media__in=set(media_ids), media__owner_id=owner_id)
        .select_related("media__current")
        .prefetch_related("media__current__renditions")
    )
    return {version.media_id: _state_of(version, now) for version in versions}


def _state_of(version: Version, now: datetime) -> ImageState:
    state = _BY_STATUS[Version.Status(version.status)]
    if version.media.deleted_at is not None:
        state = State.DELETED
    elif state is State.READY and version.lost_at is not None:
        state = State.LOST
    return ImageState(
        media_id=version.media_id,
        version=version,
        state=state,
        picture=_picture(version.media.current),
        reason=_reason(version, state),
        age=_age(_since(version, state), now),
        can_process_again=state is State.FAILED and _has_original(version, now),
    )


def _picture(version: Version | None) -> Picture | None:
    """Return what is there already: nothing is ever rendered for a page."""
    if version is None:
        return None
    made = {one.variant: one for one in version.renditions.all() if one.lost_at is None}
    small = made.get(_THUMBNAIL) or made.get(PHOTO) or made.get(FALLBACK)
    if small is None:
        return None
    plain = made.get(FALLBACK, small)
    return Picture(
        avif=_url(version, small) if small.format == "avif" else "",
        fallback=_url(version, plain),
        width=small.width,
        height=small.height,
    )


def _url(version: Version, rendition: Rendition) -> str:
    """Return an address of the host that the author has signed in to, which may be another than the site's."""
    return rendition_url(get_script_prefix().rstrip("/"), version, rendition)


def _reason(version: Version, state: State) -> str:
    if state is State.LOST:
        return _LOST_REASON
    return version.get_failure_code_display() if state is State.FAILED else ""


def _since(version: Version, state: State) -> datetime:
    since = {
        State.PROCESSING: version.claimed_at,
        State.READY: version.ready_at,
        State.FAILED: version.failed_at,
        State.LOST: version.lost_at,
        State.DELETED: version.media.deleted_at,
    }.get(state)
    return since or version.requeued_at or version.accepted_at


def _age(since: datetime, now: datetime) -> str:
    if now - since < timedelta(minutes=1):
        return "just now"
    return f"{timesince(since, now, depth=1)} ago".replace("\xa0", " ")


def _has_original(version: Version, now: datetime) -> bool:
    """Whether `process_again` would find what it needs."""
    is_kept = version.staging_delete_at is not None and version.staging_delete_at > now
    return bool(version.staging_key) and is_kept and (version.cleanup_at is None or version.cleanup_at > now)
