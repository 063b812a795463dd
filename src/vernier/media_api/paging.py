"""Which part of a list a client asks for: with `limit` and `offset`, or from the end of a list that it has.

The latter are the cursors `before` and `after` of Microsub, which Micropub's queries take over as an extension: texts
that the client gets with a list and sends back as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Q

from vernier.media_api.errors import invalid_request
from vernier.media_api.reading import quoted

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import QueryDict

LIMIT_DEFAULT = 20
# More than fit a screen, and few enough to be made at once.
LIMIT_MAX = 100
# Digits of a number that a database takes as an offset; nobody has as many posts.
_DIGITS_MAX = 9
# Without a plus sign, which clients forget to encode.
_CURSOR_TIME = "%Y%m%dT%H%M%S.%fZ"


# Of a row in its list.
type _Place = tuple[datetime, UUID]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a list is ordered by, newest first: a time, and the key that tells rows of the same time apart."""

    time: str
    key: str


def requested_page(
    rows: QuerySet[Any], parameters: QueryDict, *, order: Order
) -> tuple[list[Any], dict[str, dict[str, str]]]:
    """Return the rows that are asked for, and what the answer says about those around them; raise ApiError.

    A page that follows a cursor misses no row and repeats none, whatever is added meanwhile.
    """
    page = _page(rows, parameters, order)
    if not page:
        return page, {}
    first, last = _place(page[0], order), _place(page[-1], order)
    cursors = {"before": _cursor(first)}
    if rows.filter(_beyond(last, order, side="lt")).exists():
        cursors["after"] = _cursor(last)
    return page, {"paging": cursors}


def requested_slice(parameters: QueryDict, *, limit_default: int = LIMIT_DEFAULT) -> slice:
    """Return which items are asked for; raise ApiError for what is no whole number. A high limit is lowered."""
    limit = min(_whole(parameters, "limit", limit_default), LIMIT_MAX)
    offset = _whole(parameters, "offset", 0)
    return slice(offset, offset + limit)


def _page(rows: QuerySet[Any], parameters: QueryDict, order: Order) -> list[Any]:
    wanted = requested_slice(parameters)
    before, after = parameters.get("before", ""), parameters.get("after", "")
    if before and after:
        raise invalid_request("The query has both before and after; valid is one of them.")
    if before:
        newer = rows.filter(_beyond(_parse_cursor("before", before), order, side="gt"))
        return list(newer.order_by(order.time, order.key)[wanted])[::-1]
    if after:
        rows = rows.filter(_beyond(_parse_cursor("after", after), order, side="lt"))
    return list(rows.order_by(f"-{order.time}", f"-{order.key}")[wanted])


def _beyond(place: _Place, order: Order, *, side: str) -> Q:
    """Select what is newer (`gt`) or older (`lt`). The first condition is one that an index can begin at."""
    at, key = place
    from_there = Q((f"{order.time}__{side}e", at))
    return from_there & (Q((f"{order.time}__{side}", at)) | Q((f"{order.key}__{side}", key)))


def _place(row: object, order: Order) -> _Place:
    at, key = attrgetter(order.time.replace("__", "."), order.key)(row)
    return at, key


def _cursor(place: _Place) -> str:
    at, key = place
    return f"{at.astimezone(UTC).strftime(_CURSOR_TIME)}~{key}"


def _parse_cursor(name: str, text: str) -> _Place:
    at, _, key = text.partition("~")
    try:
        return datetime.strptime(at, _CURSOR_TIME).replace(tzinfo=UTC), UUID(key)
    except ValueError as error:
        raise invalid_request(
            f"The parameter {name} is {quoted(text)}; valid is what a list has under paging."
        ) from error


def _whole(parameters: QueryDict, name: str, default: int) -> int:
    text = parameters.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX):
        raise invalid_request(f"The parameter {name} is {quoted(text)}; valid is a whole number from 0.")
    return int(text)
