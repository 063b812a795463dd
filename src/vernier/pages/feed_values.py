"""What a feed says, whatever its format: values, and the content of an entry as HTML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

if TYPE_CHECKING:
    from datetime import datetime

    from vernier.pages.entries import ShownEntry
    from vernier.pages.photos import Picture, ShownPhoto
    from vernier.pages.profile import Card

# XML 1.0 section 2.2: what is no character of a document, however it is written.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """A feed: `url` is its own address, `page_url` that of the page with the same posts."""

    title: str
    description: str
    language: str
    url: str
    page_url: str
    modified_at: datetime
    author: Card | None
    entries: list[ShownEntry]


def content_of(entry: ShownEntry) -> SafeString:
    """Return all that a reader of a feed sees: what the post is about, its photos with their alt texts, its text."""
    rsvp = format_html("<p>{}.</p>\n", entry.rsvp_text) if entry.rsvp_text else ""
    relations = format_html_join(
        "\n", '<p>{} <a href="{}">{}</a></p>', ((one.verb, one.link.url, one.link.text) for one in entry.relations)
    )
    photos = format_html_join("\n", "{}", ((_figure(photo),) for photo in entry.pictures))
    text = entry.html or (format_html("<p>{}</p>", entry.summary) if entry.summary else "")
    parts = [part for part in (rsvp, relations, photos, text) if part]
    return mark_safe("\n".join(parts))  # noqa: S308 - each of them is


def enclosures_of(entry: ShownEntry) -> list[Picture]:
    """Return the photos of which length and type are known: a linked one is in the content only."""
    return [photo.picture for photo in entry.pictures if photo.picture and not photo.picture.is_linked]


def for_xml(text: str) -> str:
    """Return the text without characters that no XML document can hold: one of them would spoil the whole feed."""
    return _NOT_XML.sub("", text)


def _figure(photo: ShownPhoto) -> SafeString:
    picture = photo.picture
    if picture is None:
        return SafeString("")
    size = format_html(' width="{}" height="{}"', picture.width, picture.height) if picture.width else ""
    image = format_html('<img src="{}" alt="{}"{}>', picture.src, photo.alt, size)
    if not photo.caption:
        return format_html("<p>{}</p>", image)
    return format_html("<figure>{}<figcaption>{}</figcaption></figure>", image, photo.caption)
