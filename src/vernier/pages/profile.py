"""An author as pages and feeds show them: the values of an h-card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Prefetch

from vernier.authors.models import Author
from vernier.authors.profiles import profile_path
from vernier.pages.links import Link
from vernier.pages.photos import loaded_renditions, picture_of

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from vernier.pages.photos import Picture

_LINK_SCHEMES = ("https://", "http://", "mailto:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """Who somebody is; `url` is their identity."""

    name: str
    url: str
    note: str
    photo: Picture | None
    links: tuple[Link, ...]


def authors_with_photo() -> QuerySet[Author]:
    """Return the authors with all that their card shows, the first one first."""
    renditions = Prefetch("photo__current__renditions", queryset=loaded_renditions())
    return Author.objects.order_by("pk").select_related("photo__current").prefetch_related(renditions)


def card_of(author: Author, *, base: str, first_id: int | None) -> Card:
    """Return the card of an author whose photo is loaded."""
    return Card(
        name=author.shown_name,
        url=base + profile_path(author, first_id=first_id),
        note=author.note,
        photo=picture_of(author.photo.current, base) if author.photo else None,
        links=tuple(Link.to(link) for link in _texts(author.links) if link.lower().startswith(_LINK_SCHEMES)),
    )


def _texts(links: object) -> list[str]:
    """Return what is a text of what was stored."""
    return [link.strip() for link in links if isinstance(link, str)] if isinstance(links, list) else []
