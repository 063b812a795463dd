"""Answers of pages and feeds: what caches may keep, and 304 for what the reader has already."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import get_conditional_response
from django.utils.http import http_date, parse_http_date_safe, quote_etag

from vernier.media_api.cors import allow_scripts

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from typing import Any

    from django.http import HttpRequest, HttpResponseBase

# Kept by caches and asked for each time: a post, and a photo that has become ready, shows on the next load.
REVALIDATED = "public, no-cache"
PRIVATE = "private, no-store"


def page(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    *,
    modified_at: datetime | None = None,
    links: Iterable[tuple[str, str]] = (),
) -> HttpResponseBase:
    """Return a page with Link headers; what an author sees of it is kept by nobody."""
    links = list(links)
    content = render_to_string(template, {**context, "head_links": links}, request)
    if request.user.is_authenticated:
        response: HttpResponseBase = HttpResponse(content, headers={"Cache-Control": PRIVATE})
    else:
        response = unless_known(request, HttpResponse(content), modified_at=modified_at)
    if links:
        response.headers["Link"] = ", ".join(f'<{url}>; rel="{relation}"' for relation, url in links)
        # Programs in a browser look for the servers of an author.
        allow_scripts(response)
    return response


def unless_known(request: HttpRequest, response: HttpResponse, *, modified_at: datetime | None) -> HttpResponseBase:
    """Return the response for everybody, or 304 to who has it already (RFC 9110 section 13.2.2)."""
    response.headers["Cache-Control"] = REVALIDATED
    etag = quote_etag(hashlib.sha256(response.content).hexdigest()[:32])
    response.headers["ETag"] = etag
    seconds = None if modified_at is None else int(modified_at.timestamp())
    if seconds is not None:
        response.headers["Last-Modified"] = http_date(seconds)
    # A photo that is lost takes its time with it, so that the time goes back: only the very same one means the same.
    known = parse_http_date_safe(request.headers.get("If-Modified-Since", ""))
    answer = get_conditional_response(request, etag, seconds if seconds == known else None, response)
    return response if answer is None else answer
