"""JSON Feed, version 1.1."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from vernier.pages.feed_values import content_of, enclosures_of

if TYPE_CHECKING:
    from vernier.pages.entries import ShownEntry
    from vernier.pages.feed_values import Feed
    from vernier.pages.photos import Picture
    from vernier.pages.profile import Card

_VERSION = "https://jsonfeed.org/version/1.1"


def write_json_feed(feed: Feed) -> bytes:
    """Return the feed as a JSON document."""
    document = {
        "version": _VERSION,
        "title": feed.title,
        "home_page_url": feed.page_url,
        "feed_url": feed.url,
        "description": feed.description,
        "language": feed.language,
        "authors": [_author(feed.author)] if feed.author else [],
        "items": [_item(entry) for entry in feed.entries],
    }
    return json.dumps(document, ensure_ascii=False, indent=1).encode()


def _item(entry: ShownEntry) -> dict[str, Any]:
    """Leave out what the post does not have: an empty title is shown as one by some readers."""
    preview = entry.preview
    item = {
        "id": entry.id,
        "url": entry.url,
        "external_url": entry.relations[0].link.url if entry.relations else "",
        "title": entry.title,
        "summary": entry.summary,
        "image": preview.picture.src if preview and preview.picture else "",
        "date_published": entry.published_at.isoformat(),
        "date_modified": entry.modified_at.isoformat(),
        "authors": [_author(entry.author)],
        "tags": [tag.name for tag in entry.tags],
        "attachments": [_attachment(picture) for picture in enclosures_of(entry)],
    }
    # One content is required, be it empty.
    return {**{name: value for name, value in item.items() if value}, "content_html": str(content_of(entry))}


def _author(card: Card) -> dict[str, str]:
    avatar = {"avatar": card.photo.src} if card.photo else {}
    return {"name": card.name, "url": card.url, **avatar}


def _attachment(picture: Picture) -> dict[str, Any]:
    return {"url": picture.src, "mime_type": picture.media_type, "size_in_bytes": picture.byte_size}
