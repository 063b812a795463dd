"""The head of a request as Django sees it, for decisions before its body is read."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from django.core.exceptions import BadRequest
from django.core.handlers.asgi import ASGIRequest

from vernier.media_api.errors import ApiError, invalid_request

if TYPE_CHECKING:
    from asgiref.typing import HTTPScope
    from django.http import HttpRequest


def read_head(scope: HTTPScope) -> ASGIRequest | None:
    """Return the request without its body, or None where Django would fail to read its headers."""
    try:
        return ASGIRequest(scope, BytesIO())
    except (UnicodeDecodeError, BadRequest, ValueError):
        return None


def is_longer(request: HttpRequest, bytes_max: int) -> bool:
    """Tell whether the body is; raise ApiError unless it says its length (RFC 9110 section 8.6)."""
    length = request.headers.get("Content-Length", "")
    if not length:
        how = "chunked" if "Transfer-Encoding" in request.headers else "without a Content-Length"
        raise ApiError(411, "length_required", f"The body is sent {how}; valid is a Content-Length, not chunked.")
    if not (length.isascii() and length.isdigit()):
        raise invalid_request("The Content-Length is not a number.")
    # Compared by its digits first: a number of any length can be sent.
    return len(length.lstrip("0")) > len(str(bytes_max)) or int(length) > bytes_max
