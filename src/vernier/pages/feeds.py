"""Feeds: the newest posts of the site, of a tag and of an author, in three formats."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from django.http import HttpResponse, HttpResponsePermanentRedirect
from django.utils import timezone
from django.views.decorators.http import require_safe

from vernier.pages.atom import write_atom
from vernier.pages.conf import pages_settings
from vernier.pages.entries import anybody, show_in_feed
from vernier.pages.feed_links import ATOM, FORMATS, JSON_FEED, RSS
from vernier.pages.feed_values import Feed
from vernier.pages.json_feed import write_json_feed
from vernier.pages.profile import card_of
from vernier.pages.respond import unless_known
from vernier.pages.rss import write_rss
from vernier.pages.streams import author_stream, last_change, site_stream, tag_stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponseBase

    from vernier.pages.entries import Reader
    from vernier.pages.feed_links import FeedFormat
    from vernier.pages.streams import Stream

_WRITERS: dict[str, Callable[[Feed], bytes]] = {
    RSS.file_name: write_rss,
    ATOM.file_name: write_atom,
    JSON_FEED.file_name: write_json_feed,
}
# When a feed without posts has last changed.
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@require_safe
def site_feed(request: HttpRequest, file_name: str) -> HttpResponseBase:
    return _respond(request, site_stream(now=timezone.now()), FORMATS[file_name])


@require_safe
def author_feed(request: HttpRequest, name: str, file_name: str) -> HttpResponseBase:
    return _respond(request, author_stream(name, now=timezone.now()), FORMATS[file_name])


@require_safe
def tag_feed(request: HttpRequest, name: str, file_name: str) -> HttpResponseBase:
    stream = tag_stream(name, now=timezone.now())
    if not stream.is_at(name):
        return HttpResponsePermanentRedirect(stream.feed_path(file_name))
    return _respond(request, stream, FORMATS[file_name])


def _respond(request: HttpRequest, stream: Stream, feed_format: FeedFormat) -> HttpResponseBase:
    """Everybody gets the same feed, whoever is signed in."""
    feed = _feed(anybody(request, now=stream.until), stream, feed_format)
    response = HttpResponse(
        _WRITERS[feed_format.file_name](feed), content_type=f"{feed_format.media_type}; charset=utf-8"
    )
    response.headers["Link"] = f'<{feed.url}>; rel="self"'
    response.headers["Access-Control-Allow-Origin"] = "*"
    return unless_known(request, response, modified_at=feed.modified_at)


def _feed(reader: Reader, stream: Stream, feed_format: FeedFormat) -> Feed:
    posts = stream.piece({}).rows
    entries = show_in_feed(posts, reader)
    conf = pages_settings()
    owner = card_of(stream.owner, base=reader.base, first_id=reader.first_author_id) if stream.owner else None
    return Feed(
        title=stream.full_title,
        description=owner.note if owner and owner.note else f"Posts of {conf.title}",
        language=conf.language,
        url=reader.base + stream.feed_path(feed_format.file_name),
        page_url=reader.base + stream.path,
        modified_at=last_change(posts, entries) or _EPOCH,
        author=owner,
        entries=entries,
    )
