"""Posts as microformats2 properties, which Micropub speaks, and back."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from vernier.posts.addresses import media_id_of, post_url
from vernier.posts.content import render
from vernier.posts.entry import Content, ContentFormat, Entry, EntryPhoto, Status, Visibility
from vernier.posts.exceptions import PropertyInvalid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vernier.posts.models import Post

type Properties = dict[str, list[Any]]

# Said by the server, not by a client: whatever is sent under these names is left out.
_OURS = {"url", "uid", "updated", "author", "post-type"}
_PROPERTY_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.IGNORECASE)
_HTTP = ("http://", "https://")


def to_properties(post: Post, *, base: str) -> Properties:
    """Return everything that the post says, as lists of values by property (Micropub section 3.7.5)."""
    url = post_url(base, post)
    entry = entry_properties(post.entry, base=base)
    return {**entry, "updated": [post.updated_at.isoformat()], "url": [url], "uid": [url]}


def entry_properties(entry: Entry, *, base: str) -> Properties:
    """Return what the entry says, as `from_properties` takes it; a property without values is left out."""
    properties: Properties = {
        "name": [entry.title] if entry.title else [],
        "summary": [entry.summary] if entry.summary else [],
        "content": _content_values(entry.content),
        "photo": [_photo_value(photo, base) for photo in entry.photos],
        "category": list(entry.tags),
        "published": [entry.published_at.isoformat()] if entry.published_at else [],
        "post-status": [str(entry.status)],
        "visibility": [str(entry.visibility)],
    }
    return {name: values for name, values in {**properties, **entry.properties}.items() if values}


def from_properties(properties: Properties, *, base: str) -> Entry:
    """Return the entry that the properties describe; raise PropertyInvalid for a value that makes no sense."""
    entry = Entry()
    for name, values in properties.items():
        entry = assign(entry, name, values, base=base)
    return entry


def assign(entry: Entry, name: str, values: list[Any], *, base: str) -> Entry:
    """Return the entry with this one property set to these values; empty texts count as absent."""
    if name in _OURS or name.startswith("mp-"):
        return entry
    values = [value for value in values if value not in ("", None)]
    setter = _SETTERS.get(name)
    if setter is not None:
        return setter(entry, values, base)
    if not _PROPERTY_NAME.fullmatch(name):
        raise PropertyInvalid(name, name, "a name of letters, digits and hyphens")
    others = {key: kept for key, kept in entry.properties.items() if key != name}
    return replace(entry, properties={**others, name: values} if values else others)


def parse_time(name: str, text: object) -> datetime:
    """Return the time of an ISO 8601 text with the offset in it, else in the site's time zone."""
    try:
        # A space in a form may have been the plus sign of an offset.
        at = datetime.fromisoformat(re.sub(r" (?=\d\d:?\d\d$)", "+", str(text).strip()))
        at = at if timezone.is_aware(at) else timezone.make_aware(at)
        # What cannot be said in UTC cannot be stored.
        timezone.localtime(at)
    except (ValueError, OverflowError) as error:
        raise PropertyInvalid(name, text, "a time such as 2026-11-30T12:00:00+01:00") from error
    return at


def _content_values(content: Content | None) -> list[Any]:
    if content is None:
        return []
    return [content.source] if content.format is ContentFormat.TEXT else [{"html": render(content)}]


def _photo_value(photo: EntryPhoto, base: str) -> str | dict[str, str]:
    url = photo.url or f"{base}/media/{photo.media_id}"
    more = {"alt": photo.alt, "caption": photo.caption}
    more = {name: text for name, text in more.items() if text}
    return {"value": url, **more} if more else url


def _set_title(entry: Entry, values: list[Any], base: str) -> Entry:  # noqa: ARG001 - as all setters
    return replace(entry, title=_text("name", values).strip())


def _set_summary(entry: Entry, values: list[Any], base: str) -> Entry:  # noqa: ARG001 - as all setters
    return replace(entry, summary=_text("summary", values))


def _set_content(entry: Entry, values: list[Any], base: str) -> Entry:  # noqa: ARG001 - as all setters
    """Take a plain string as text, in which nothing is markup, and `{"html": ...}` as HTML (Micropub 3.3.2)."""
    value = values[0] if values else ""
    html = value.get("html") if isinstance(value, dict) else None
    if isinstance(html, list):
        html = html[0] if html else ""
    if html is not None:
        if not isinstance(html, str):
            raise PropertyInvalid("content", html, "a text of HTML")
        content = Content(format=ContentFormat.HTML, source=html) if html.strip() else None
        return replace(entry, content=content)
    text = _text("content", values)
    return replace(entry, content=Content(format=ContentFormat.TEXT, source=text) if text.strip() else None)


def _set_photos(entry: Entry, values: list[Any], base: str) -> Entry:
    """Take addresses and objects with an alt text; what an update names again keeps the texts that it had."""
    known = {(photo.media_id, photo.url): photo for photo in entry.photos}
    photos = (_photo(value, base) for value in values)
    kept = (_with_known_texts(photo, known.get((photo.media_id, photo.url)), is_plain) for photo, is_plain in photos)
    return replace(entry, photos=tuple(kept))


def _photo(value: object, base: str) -> tuple[EntryPhoto, bool]:
    """Return the photo, and whether it came as a plain address."""
    is_plain = isinstance(value, str)
    given = {"value": value} if is_plain else value
    if not isinstance(given, dict):
        raise PropertyInvalid("photo", value, "an address, or an object with value and alt")
    url, alt, caption = ("" if given.get(name) is None else given[name] for name in ("value", "alt", "caption"))
    if isinstance(url, list):
        url = url[0] if url else ""
    if not (isinstance(url, str) and url.strip().lower().startswith(_HTTP)):
        raise PropertyInvalid("photo", url, "an http or https address")
    if not (isinstance(alt, str) and isinstance(caption, str)):
        raise PropertyInvalid("photo", value, "an object whose alt is a text")
    media_id = media_id_of(base, url)
    return EntryPhoto(media_id=media_id, url="" if media_id else url.strip(), alt=alt, caption=caption), is_plain


def _with_known_texts(photo: EntryPhoto, known: EntryPhoto | None, is_plain: bool) -> EntryPhoto:  # noqa: FBT001
    if known is None:
        return photo
    alt = known.alt if is_plain else photo.alt
    return replace(photo, alt=alt, caption=photo.caption or known.caption)


def _set_tags(entry: Entry, values: list[Any], base: str) -> Entry:  # noqa: ARG001 - as all setters
    for value in values:
        if not isinstance(value, str):
            raise PropertyInvalid("category", value, "a text")
    return replace(entry, tags=tuple(dict.fromkeys(value.strip() for value in values if value.strip())))


def _set_published(entry: Entry, values: list[Any], base: str) -> Entry:  # noqa: ARG001 - as all setters
    return replace(entry, published_at=parse_time("published", values[0]) if values else None)


def _set_status(entry: Entry, values: list[Any], base: str) -> Entry:  # noqa: ARG001 - as all setters
    """Refuse an unknown status: nothing is published by accident."""
    return replace(entry, status=_choice("post-status", values, Status, Status.PUBLISHED))


def _set_visibility(entry: Entry, values: list[Any], base: str) -> Entry:  # noqa: ARG001 - as all setters
    return replace(entry, visibility=_choice("visibility", values, Visibility, Visibility.PUBLIC))


def _choice[T: (Status, Visibility)](name: str, values: list[Any], choices: type[T], default: T) -> T:
    if not values:
        return default
    try:
        return choices(values[0])
    except (ValueError, TypeError) as error:
        raise PropertyInvalid(name, values[0], f"one of {', '.join(choices.values)}") from error


def _text(name: str, values: Iterable[Any]) -> str:
    """Return the first value, which must be a text or a number; nothing where there is none."""
    value = next(iter(values), "")
    if isinstance(value, dict) and isinstance(value.get("value"), str):
        value = value["value"]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise PropertyInvalid(name, value, "a text")
    return str(value)


_SETTERS: dict[str, Callable[[Entry, list[Any], str], Entry]] = {
    "name": _set_title,
    "summary": _set_summary,
    "content": _set_content,
    "photo": _set_photos,
    "category": _set_tags,
    "published": _set_published,
    "post-status": _set_status,
    "visibility": _set_visibility,
}
