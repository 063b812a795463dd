"""The photos of a post as a page or a feed shows them: values, made from rows that are loaded already."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Prefetch
from django.utils.timesince import timesince

from vernier.media.models import Rendition, Version
from vernier.media.variants import FALLBACK
from vernier.media_api.links import rendition_url
from vernier.posts.models import Photo

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

_MINUTE = timedelta(minutes=1)
DELETED = "This photo was deleted."
LOST = "The files of this photo are lost. Please upload it again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One format of a picture in several widths."""

    media_type: str
    srcset: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """An image that readers may see; `src` is in a format that everything reads. A linked one has no size."""

    src: str
    # The largest of its kind.
    full_src: str
    sources: tuple[Source, ...] = ()
    width: int = 0
    height: int = 0
    media_type: str = ""
    byte_size: int = 0
    # Shown until it has loaded, such as `#a1b2c3`.
    placeholder: str = ""

    @property
    def is_tall(self) -> bool:
        """Whether it would be higher than a screen at the width of the page."""
        return self.height > self.width

    @property
    def is_linked(self) -> bool:
        """Whether it comes from another site."""
        return not self.media_type


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPhoto:
    """A photo in its place, with its alt text; `notice` is for its author alone."""

    picture: Picture | None
    alt: str
    caption: str
    notice: str = ""
    is_failure: bool = False


def loaded_photos() -> QuerySet[Photo]:
    """Return photos with what is shown of them and no more: a list of posts may have hundreds."""
    media = ("media__newest_number", "media__deleted_at")
    version = ("number", "media", "ready_at", "has_alpha", "placeholder")
    return (
        Photo.objects.select_related("media__current")
        .only("post", "position", "url", "alt", "caption", *media, *(f"media__current__{name}" for name in version))
        .prefetch_related(Prefetch("media__current__renditions", queryset=loaded_renditions()))
    )


def loaded_renditions() -> QuerySet[Rendition]:
    """Return renditions with what addresses and sizes are made of."""
    return Rendition.objects.only("version", "variant", "format", "width", "height", "byte_size", "lost_at")


def show_photos(photos: Iterable[Photo], base: str) -> tuple[ShownPhoto, ...]:
    """Return the photos that readers see."""
    shown = ((photo, _picture(photo, base)) for photo in photos)
    return tuple(
        ShownPhoto(picture=picture, alt=photo.alt, caption=photo.caption) for photo, picture in shown if picture
    )


def show_photos_to_author(
    photos: Iterable[Photo], base: str, newest: dict[UUID, Version], *, now: datetime
) -> tuple[ShownPhoto, ...]:
    """Return all photos; those with something that readers do not see yet have a notice that says what."""
    return tuple(_for_author(photo, base, newest, now) for photo in photos)


def newest_versions(photos: Iterable[Photo]) -> dict[UUID, Version]:
    """Return, by Media, the newest Version of those that are not what is served; one query at most."""
    behind = {photo.media_id for photo in photos if photo.media and _is_behind(photo)}
    if not behind:
        return {}
    return {version.media_id: version for version in Version.objects.newest().filter(media__in=behind)}


def picture_of(version: Version | None, base: str) -> Picture | None:
    """Return the image of a Version that is served; None where there is none, or its fallback is lost."""
    if version is None:
        return None
    here = [rendition for rendition in version.renditions.all() if rendition.lost_at is None]
    fallback = next((rendition for rendition in here if rendition.variant == FALLBACK), None)
    if fallback is None:
        return None
    steps = sorted(
        (rendition for rendition in here if rendition is not fallback and _same_shape(rendition, fallback)),
        key=lambda rendition: rendition.width,
    )
    src = rendition_url(base, version, fallback)
    return Picture(
        src=src,
        full_src=rendition_url(base, version, steps[-1]) if steps else src,
        sources=_sources(steps, version, base),
        width=fallback.width,
        height=fallback.height,
        media_type=fallback.media_type,
        byte_size=fallback.byte_size,
        # It would be seen through what is transparent.
        placeholder="" if version.has_alpha else version.placeholder,
    )


def _picture(photo: Photo, base: str) -> Picture | None:
    if photo.media is not None:
        return picture_of(photo.media.current, base)
    return Picture(src=photo.url, full_src=photo.url)


def _sources(steps: list[Rendition], version: Version, base: str) -> tuple[Source, ...]:
    """Group by format; in the default set all are AVIF."""
    by_type: dict[str, list[str]] = {}
    for step in steps:
        by_type.setdefault(step.media_type, []).append(f"{rendition_url(base, version, step)} {step.width}w")
    return tuple(Source(media_type=media_type, srcset=", ".join(urls)) for media_type, urls in by_type.items())


def _same_shape(one: Rendition, other: Rendition) -> bool:
    """Tell whether both show the whole image: a variant that crops is no step of a srcset. Sides are rounded."""
    return abs(one.width * other.height - one.height * other.width) <= 2 * max(other.width, other.height)


def _for_author(photo: Photo, base: str, newest: dict[UUID, Version], now: datetime) -> ShownPhoto:
    picture = _picture(photo, base)
    notice, is_failure = "", False
    if photo.media is not None:
        version = newest.get(photo.media.pk)
        if photo.media.deleted_at is not None:
            notice, is_failure = DELETED, True
        elif version is not None:
            notice, is_failure = _notice(version, now), version.status == Version.Status.FAILED
            notice = f"A newer version: {notice}" if picture else notice
        elif picture is None:
            notice, is_failure = LOST, True
    return ShownPhoto(picture=picture, alt=photo.alt, caption=photo.caption, notice=notice, is_failure=is_failure)


def _notice(version: Version, now: datetime) -> str:
    """Say what becomes of the upload, queued and processing apart: a queue of minutes is not to look like a hang."""
    if version.status == Version.Status.FAILED:
        return version.get_failure_code_display()
    if version.status == Version.Status.PROCESSING and version.claimed_at:
        return f"Processing for {_age(version.claimed_at, now)}."
    return f"Waiting to be processed for {_age(version.accepted_at, now)}."


def _age(since: datetime, now: datetime) -> str:
    return timesince(since, now, depth=1) if now - since >= _MINUTE else "less than a minute"


def _is_behind(photo: Photo) -> bool:
    media = photo.media
    if media is None or media.deleted_at is not None:
        return False
    return media.current is None or media.current.number != media.newest_number
