"""Pages that list posts: home, an author, a tag, a month."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

from django.http import HttpResponsePermanentRedirect, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from vernier.authors.profiles import HOME
from vernier.media_api.cors import preflight
from vernier.pages.conf import discovery_links
from vernier.pages.entries import reader_of, show
from vernier.pages.feed_links import feed_links
from vernier.pages.profile import card_of
from vernier.pages.respond import page
from vernier.pages.streams import author_stream, last_change, site_stream, tag_stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from django.http import HttpRequest, HttpResponseBase

    from vernier.pages.streams import Stream


def for_scripts(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Let a program in a browser, whose page is another site's, look here for an author's servers."""

    @require_http_methods(["GET", "HEAD", "OPTIONS"])
    @wraps(view)
    def answer(request: HttpRequest, **path: str) -> HttpResponseBase:
        return preflight(("GET", "HEAD")) if request.method == "OPTIONS" else view(request, **path)

    return answer


@for_scripts
def home(request: HttpRequest) -> HttpResponseBase:
    """Show the newest posts, and who the site belongs to."""
    now = timezone.now()
    return list_page(request, site_stream(now=now), now=now)


@for_scripts
def author(request: HttpRequest, name: str) -> HttpResponseBase:
    """Show somebody's profile and newest posts."""
    now = timezone.now()
    return list_page(request, author_stream(name, now=now), now=now)


@require_safe
def tag(request: HttpRequest, name: str) -> HttpResponseBase:
    """Show the newest posts with a tag, at the one address that it has."""
    now = timezone.now()
    stream = tag_stream(name, now=now)
    if not stream.is_at(name):
        return HttpResponsePermanentRedirect(stream.path)
    return list_page(request, stream, now=now)


def list_page(request: HttpRequest, stream: Stream, *, now: datetime, has_feeds: bool = True) -> HttpResponseBase:
    """Show a piece of a stream; its profile stands above the first one, with the links that programs look for."""
    reader = reader_of(request, now=now)
    piece = stream.piece(request.GET)
    if piece.is_first:
        return HttpResponseRedirect(stream.path)
    is_start = piece.newer is None
    entries = show(piece.rows, reader)
    card = card_of(stream.owner, base=reader.base, first_id=reader.first_author_id) if stream.owner else None
    context = {
        "stream": stream,
        "is_home": stream.path == HOME,
        "canonical": reader.base + (request.get_full_path() if piece.newer else stream.path),
        "entries": entries,
        "card": card if is_start else None,
        "owner": card,
        "feeds": feed_links(stream, reader.base) if has_feeds else [],
        "older": f"{stream.path}?before={piece.older}" if piece.older else "",
        "newer": f"{stream.path}?after={piece.newer}" if piece.newer else "",
        "is_start": is_start,
    }
    links = discovery_links(reader.base) if stream.owner and is_start else []
    modified_at = last_change(piece.rows, entries)
    return page(request, "vernier/pages/list.html", context, modified_at=modified_at, links=links)
