"""RSS 2.0, with the whole content, an Atom link to itself and Media RSS for more than one photo."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING
from xml.sax.xmlreader import AttributesImpl

from django.utils.feedgenerator import Rss201rev2Feed, rfc2822_date, rfc3339_date

from vernier.pages.feed_values import content_of, enclosures_of, for_xml

if TYPE_CHECKING:
    from typing import Any

    from django.utils.xmlutils import SimplerXMLGenerator

    from vernier.pages.entries import ShownEntry
    from vernier.pages.feed_values import Feed

_NAMESPACES = {
    "xmlns:content": "http://purl.org/rss/1.0/modules/content/",
    "xmlns:dc": "http://purl.org/dc/elements/1.1/",
    "xmlns:media": "http://search.yahoo.com/mrss/",
}


def write_rss(feed: Feed) -> bytes:
    """Return the feed as an RSS document."""
    document = _Rss(
        title=for_xml(feed.title),
        link=feed.page_url,
        description=for_xml(feed.description),
        language=feed.language,
        feed_url=feed.url,
    )
    for entry in feed.entries:
        document.add_item(
            title=entry.title, link=entry.url, description="", updateddate=feed.modified_at, entry=entry
        )
    out = BytesIO()
    document.write(out, "utf-8")
    return out.getvalue()


class _Rss(Rss201rev2Feed):
    def rss_attributes(self) -> dict[str, Any]:
        return {**super().rss_attributes(), **_NAMESPACES}

    def add_item_elements(self, handler: SimplerXMLGenerator, item: dict[str, Any]) -> None:
        """Write an item. A note has no title: an empty one, or one made of its text, is shown twice."""
        entry: ShownEntry = item["entry"]
        content = for_xml(content_of(entry))
        if entry.title:
            handler.addQuickElement("title", for_xml(entry.title))
        handler.addQuickElement("link", entry.url)
        # One of title and description is required.
        handler.addQuickElement("description", for_xml(entry.summary) or content or for_xml(entry.heading))
        if content:
            handler.addQuickElement("content:encoded", content)
        handler.addQuickElement("dc:creator", for_xml(entry.author.name))
        handler.addQuickElement("pubDate", rfc2822_date(entry.published_at))
        handler.addQuickElement("atom:updated", rfc3339_date(entry.modified_at))
        handler.addQuickElement("guid", entry.id, {"isPermaLink": "false"})
        for tag in entry.tags:
            handler.addQuickElement("category", for_xml(tag.name))
        _add_photos(handler, entry)


def _add_photos(handler: SimplerXMLGenerator, entry: ShownEntry) -> None:
    """RSS has room for one enclosure; the others, and every alt text, are said with Media RSS."""
    for picture in enclosures_of(entry)[:1]:
        attributes = {"url": picture.src, "length": str(picture.byte_size), "type": picture.media_type}
        handler.addQuickElement("enclosure", "", attributes)
    for photo in entry.pictures:
        if photo.picture is None or photo.picture.is_linked:
            continue
        picture = photo.picture
        attributes = {
            "url": picture.src,
            "fileSize": str(picture.byte_size),
            "type": picture.media_type,
            "medium": "image",
            "width": str(picture.width),
            "height": str(picture.height),
        }
        handler.startElement("media:content", AttributesImpl(attributes))
        if photo.alt:
            handler.addQuickElement("media:description", for_xml(photo.alt), {"type": "plain"})
        handler.endElement("media:content")
