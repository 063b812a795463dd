"""The text of a post where it is shown: links that work from anywhere, and no image that is not there.

It is sanitised already: tags and attributes are written in one way, which the patterns here rely on.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from django.db.models import Prefetch
from django.utils.safestring import SafeString, mark_safe

from vernier.media.models import Media
from vernier.pages.photos import loaded_renditions, picture_of
from vernier.posts.addresses import media_id_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from vernier.pages.photos import Picture

type Pictures = dict[UUID, Picture | None]

_MEDIA = "/media/"
# A whole tag, whatever its attributes hold: what looks like a tag within one of them is never taken for one.
_TAG = re.compile(r"<([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:=\"[^\"]*\")?)*)\s*/?>")
_ATTRIBUTE = re.compile(r"([a-z-]+)(?:=\"([^\"]*)\")?")
_ADDRESSES = {"href", "src", "cite"}
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_EMPTY_PARAGRAPH = re.compile(r"<p>\s*</p>")


def pictures_in(texts: Iterable[str], base: str) -> Pictures:
    """Return the images of this site that the texts show, by Media; None for one that readers cannot see."""
    wanted = {media_id for text in texts if _MEDIA in text for media_id in _media_ids(text, base)}
    if not wanted:
        return {}
    renditions = Prefetch("current__renditions", queryset=loaded_renditions())
    found = Media.objects.live().select_related("current").prefetch_related(renditions).filter(pk__in=wanted)
    return dict.fromkeys(wanted) | {media.pk: picture_of(media.current, base) for media in found}


def text_for_page(html: str, *, url: str, base: str, pictures: Pictures) -> SafeString:
    """Return the text of the post at `url` for a page: its images load late and have their size."""
    return _shown(html, url, base, pictures, is_feed=False)


def text_for_feed(html: str, *, url: str, base: str, pictures: Pictures) -> SafeString:
    """Return the text of the post at `url` for a feed: its images are in a format that everything reads."""
    return _shown(html, url, base, pictures, is_feed=True)


def _media_ids(html: str, base: str) -> Iterable[UUID]:
    for tag in _TAG.finditer(html):
        source = _attributes(tag[2]).get("src", "") if tag[1] == "img" else ""
        media_id = media_id_of(base, _absolute(source, f"{base}/"))
        if media_id is not None:
            yield media_id


def _shown(html: str, url: str, base: str, pictures: Pictures, *, is_feed: bool) -> SafeString:
    def rewrite(tag: re.Match[str]) -> str:
        attributes = _attributes(tag[2])
        is_image = tag[1] == "img"
        if not is_image and not _ADDRESSES & set(attributes):
            return tag[0]
        attributes = {
            name: _absolute(value, url) if name in _ADDRESSES else value for name, value in attributes.items()
        }
        if is_image:
            return _image(attributes, base, pictures, is_feed=is_feed)
        return _write(tag[1], attributes)

    html = _EMPTY_PARAGRAPH.sub("", _TAG.sub(rewrite, html))
    return mark_safe(html)  # noqa: S308 - sanitised when it was written, and what is new is escaped


def _absolute(address: str, url: str) -> str:
    """Resolve an address against the permalink: pages with many posts and feeds are elsewhere."""
    if _ABSOLUTE.match(address):
        return address
    try:
        return urljoin(url, address)
    except ValueError:
        return address


def _image(attributes: dict[str, str], base: str, pictures: Pictures, *, is_feed: bool) -> str:
    """Write an image; nothing where it is one of this site that readers cannot see."""
    attributes = {"alt": "", **attributes}
    media_id = media_id_of(base, attributes.get("src", ""))
    picture = pictures.get(media_id) if media_id else None
    if media_id and picture is None:
        return ""
    if picture and is_feed:
        attributes["src"] = picture.src
    if picture and not {"width", "height"} & set(attributes):
        attributes |= {"width": str(picture.width), "height": str(picture.height)}
    if not is_feed:
        attributes |= {"loading": "lazy", "decoding": "async"}
        attributes |= {} if picture else {"referrerpolicy": "no-referrer"}
    return _write("img", attributes)


def _write(tag: str, attributes: dict[str, str]) -> str:
    return f"<{tag} " + " ".join(f'{name}="{escape(value)}"' for name, value in attributes.items()) + ">"


def _attributes(written: str) -> dict[str, str]:
    return {match[1]: unescape(match[2] or "") for match in _ATTRIBUTE.finditer(written)}
