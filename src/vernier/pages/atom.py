"""Atom (RFC 4287)."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from django.utils.feedgenerator import Atom1Feed, Enclosure

from vernier.pages.feed_values import content_of, enclosures_of, for_xml

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from django.utils.xmlutils import SimplerXMLGenerator

    from vernier.pages.entries import ShownEntry
    from vernier.pages.feed_values import Feed


def write_atom(feed: Feed) -> bytes:
    """Return the feed as an Atom document."""
    document = _Atom(
        title=for_xml(feed.title),
        link=feed.page_url,
        description=None,
        subtitle=for_xml(feed.description),
        language=feed.language,
        feed_url=feed.url,
        feed_guid=feed.url,
        author_name=for_xml(feed.author.name) if feed.author else None,
        author_link=feed.author.url if feed.author else None,
        modified_at=feed.modified_at,
    )
    for entry in feed.entries:
        _add(document, entry)
    out = BytesIO()
    document.write(out, "utf-8")
    return out.getvalue()


def _add(document: _Atom, entry: ShownEntry) -> None:
    document.add_item(
        # The format requires one of every entry: a note is named by its beginning.
        title=for_xml(entry.heading),
        link=entry.url,
        description="",
        summary=for_xml(entry.summary),
        author_name=for_xml(entry.author.name),
        author_link=entry.author.url,
        pubdate=entry.published_at,
        updateddate=entry.modified_at,
        unique_id=entry.id,
        categories=[for_xml(tag.name) for tag in entry.tags],
        enclosures=[
            Enclosure(picture.src, str(picture.byte_size), picture.media_type) for picture in enclosures_of(entry)
        ],
        content=for_xml(content_of(entry)),
    )


class _Atom(Atom1Feed):
    def latest_post_date(self) -> datetime:
        modified_at: datetime = self.feed["modified_at"]
        return modified_at

    def add_item_elements(self, handler: SimplerXMLGenerator, item: dict[str, Any]) -> None:
        # Django takes a description for HTML; ours is plain.
        super().add_item_elements(handler, {**item, "description": None})
        if item["summary"]:
            handler.addQuickElement("summary", item["summary"])
        if item["content"]:
            handler.addQuickElement("content", item["content"], {"type": "html"})
