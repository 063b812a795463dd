"""The formats of feeds, and where the feeds of a stream are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vernier.pages.streams import Stream


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedFormat:
    name: str
    file_name: str
    media_type: str


RSS = FeedFormat(name="RSS", file_name="rss.xml", media_type="application/rss+xml")
ATOM = FeedFormat(name="Atom", file_name="atom.xml", media_type="application/atom+xml")
JSON_FEED = FeedFormat(name="JSON Feed", file_name="feed.json", media_type="application/feed+json")
FORMATS = {one.file_name: one for one in (RSS, ATOM, JSON_FEED)}


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedLink:
    """A feed as pages link it."""

    format: FeedFormat
    title: str
    url: str


def feed_links(stream: Stream, base: str) -> list[FeedLink]:
    """Return the feeds of a stream, one for each format."""
    return [
        FeedLink(format=one, title=f"{stream.full_title} ({one.name})", url=base + stream.feed_path(one.file_name))
        for one in FORMATS.values()
    ]
