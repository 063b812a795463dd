"""What lets the scripts of other sites' pages use this API: the Fetch Standard, section 3.3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.http import HttpResponseBase

# Any origin may: what is not public here takes a token, and an answer to a request with cookies is kept from scripts
# where the origin is only a star. Programs in a browser read the address of an upload from its header.
CORS_HEADERS = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Location, Link"}
# How long a browser may keep the answer to its preflight: two hours are the longest that any of them does.
_PREFLIGHT_SECONDS = 7200


def preflight(methods: Iterable[str]) -> HttpResponse:
    """Tell a browser that a page of another site may send these methods, with a token."""
    headers = {
        "Access-Control-Allow-Methods": ", ".join(methods),
        "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key",
        "Access-Control-Max-Age": str(_PREFLIGHT_SECONDS),
    }
    return allow_scripts(HttpResponse(status=204, headers=headers))


def allow_scripts[Response: HttpResponseBase](response: Response) -> Response:
    """Let scripts of any origin read the answer."""
    for name, value in CORS_HEADERS.items():
        response.headers[name] = value
    return response
