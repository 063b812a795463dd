"""Which part of a list a client asks for, with `limit` and `offset`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vernier.media_api.errors import invalid_request
from vernier.media_api.reading import quoted

if TYPE_CHECKING:
    from django.http import QueryDict

LIMIT_DEFAULT = 20
# More than fit a screen, and few enough to be made at once.
LIMIT_MAX = 100
# Digits of a number that a database takes as an offset; nobody has as many posts.
_DIGITS_MAX = 9


def requested_slice(parameters: QueryDict, *, limit_default: int = LIMIT_DEFAULT) -> slice:
    """Return which items are asked for; raise ApiError for what is no whole number. A high limit is lowered."""
    limit = min(_whole(parameters, "limit", limit_default), LIMIT_MAX)
    offset = _whole(parameters, "offset", 0)
    return slice(offset, offset + limit)


def _whole(parameters: QueryDict, name: str, default: int) -> int:
    text = parameters.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX):
        raise invalid_request(f"The parameter {name} is {quoted(text)}; valid is a whole number from 0.")
    return int(text)
