"""An Entry: all that a post says, as one value; what the adapters make and the rows are written from."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

from django.db import models

from vernier.posts.exceptions import PropertyInvalid

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

# Far above what people write; together they fit the 1 MiB that a request may have.
TITLE_CHARACTERS_MAX = 1000
CONTENT_CHARACTERS_MAX = 500_000
TAGS_MAX = 100
TAG_CHARACTERS_MAX = 100
PHOTOS_MAX = 100
ALT_CHARACTERS_MAX = 5000
URL_CHARACTERS_MAX = 2048
PROPERTIES_MAX = 200
VALUES_MAX = 1000


class Kind(models.TextChoices):
    """What sort of post it is, as `kinds` discovers it."""

    NOTE = "note", "Note"
    ARTICLE = "article", "Article"
    PHOTO = "photo", "Photo"
    REPLY = "reply", "Reply"
    LIKE = "like", "Like"
    REPOST = "repost", "Repost"
    BOOKMARK = "bookmark", "Bookmark"
    RSVP = "rsvp", "RSVP"


class Status(models.TextChoices):
    """Whether a post is meant for readers; one that is published with a time to come is scheduled."""

    DRAFT = "draft", "Draft"
    PUBLISHED = "published", "Published"


class Visibility(models.TextChoices):
    """Who may read a published post: everybody, whoever has its address, or its author alone."""

    PUBLIC = "public", "Public"
    UNLISTED = "unlisted", "Unlisted"
    PRIVATE = "private", "Private"


class ContentFormat(models.TextChoices):
    """How the source of a content is written."""

    TEXT = "text", "Plain text"
    MARKDOWN = "markdown", "Markdown"
    HTML = "html", "HTML"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The source of a post's text."""

    format: ContentFormat
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPhoto:
    """A photo: one of the author's Media, or else the address of an image elsewhere."""

    media_id: UUID | None = None
    url: str = ""
    alt: str = ""
    caption: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """All that a post says. `properties` holds what has no field: microformats2 names, each with a list of values."""

    title: str = ""
    summary: str = ""
    content: Content | None = None
    photos: tuple[EntryPhoto, ...] = ()
    tags: tuple[str, ...] = ()
    # With the offset that the author wrote; none is the moment of publishing.
    published_at: datetime | None = None
    status: Status = Status.PUBLISHED
    visibility: Visibility = Visibility.PUBLIC
    # A wish; the one in the path may differ.
    slug: str = ""
    properties: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing at all."""
        has_text = any((self.title.strip(), self.summary.strip(), self.content and self.content.source.strip()))
        return not (has_text or self.photos or self.tags or self.properties)

    def check(self) -> None:
        """Raise PropertyInvalid for the first thing that cannot be kept."""
        _require_length("name", self.title, TITLE_CHARACTERS_MAX)
        _require_length("summary", self.summary, CONTENT_CHARACTERS_MAX)
        _require_length("content", self.content.source if self.content else "", CONTENT_CHARACTERS_MAX)
        _require_count("photo", self.photos, PHOTOS_MAX)
        for photo in self.photos:
            _require_length("photo", photo.url, URL_CHARACTERS_MAX, what="an address")
            _require_length("photo", photo.alt, ALT_CHARACTERS_MAX, what="an alt text")
            _require_length("photo", photo.caption, ALT_CHARACTERS_MAX, what="a caption")
        _require_count("category", self.tags, TAGS_MAX)
        for tag in self.tags:
            _require_length("category", tag, TAG_CHARACTERS_MAX)
        if len(self.properties) > PROPERTIES_MAX:
            name = list(self.properties)[PROPERTIES_MAX]
            raise PropertyInvalid(name, f"number {len(self.properties)}", f"at most {PROPERTIES_MAX} properties")
        for name, values in self.properties.items():
            if len(values) > VALUES_MAX:
                raise PropertyInvalid(name, f"{len(values)} values", f"at most {VALUES_MAX}")
        _require_storable("properties", self.properties)


def _require_length(name: str, text: str, characters_max: int, *, what: str = "a text") -> None:
    if len(text) > characters_max:
        raise PropertyInvalid(name, f"{what} of {len(text)} characters", f"at most {characters_max}")
    _require_storable(name, text)


def _require_count(name: str, values: tuple[Any, ...], most: int) -> None:
    if len(values) > most:
        raise PropertyInvalid(name, f"{len(values)} values", f"at most {most}")


def _require_storable(name: str, value: object) -> None:
    """Refuse what a database takes for neither text nor JSON: NUL, halves of surrogate pairs, NaN, other types."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple):
            waiting += part
        elif isinstance(part, str) and ("\0" in part or any("\ud800" <= letter <= "\udfff" for letter in part)):
            raise PropertyInvalid(name, part, "text without NUL characters and lone surrogates")
        elif isinstance(part, float) and not isfinite(part):
            raise PropertyInvalid(name, part, "a finite number")
        elif not isinstance(part, str | int | float | None):
            raise PropertyInvalid(name, part, "what JSON can say")
