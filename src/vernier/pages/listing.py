"""Lists in pieces, newest first: each begins where another ends, at whatever depth it costs the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from django.db.models import Q
from django.http import Http404

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from django.db.models import QuerySet

# Gives the rows of a list that were published until a time.
type RowsUntil[T] = Callable[[datetime], QuerySet[Any, T]]

# What loads fast with a photo in each.
PAGE_SIZE = 20
# Microseconds since 1970, and the post's id. 18 digits are enough for every year that there is.
_CURSOR = re.compile(r"(-?[0-9]{1,18})_([0-9a-f]{32})")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """A place in a list: that of a post, which need not be there any more."""

    at: datetime
    id: UUID

    def __str__(self) -> str:
        return f"{(self.at - _EPOCH) // _MICROSECOND}_{self.id.hex}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the place that an address names; raise Http404 where it names none."""
        match = _CURSOR.fullmatch(text)
        if match is None:
            raise Http404
        try:
            return cls(at=_EPOCH + int(match[1]) * _MICROSECOND, id=UUID(match[2]))
        except OverflowError as error:
            raise Http404 from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece[T]:
    """Some rows of a list; `older` and `newer` are where the next pieces begin, None at the ends.

    `is_first` tells that nothing is newer although newer rows were asked for: the list's own address shows the same.
    """

    rows: list[T]
    older: Cursor | None
    newer: Cursor | None
    is_first: bool = False


def piece_of[T](rows: RowsUntil[T], wanted: Mapping[str, str], *, until: datetime, id_field: str = "pk") -> Piece[T]:
    """Return what `before` or `after` in the address asks for, else the beginning; raise Http404 for nonsense."""
    if "after" in wanted:
        return _newer_than(rows(until), Cursor.parse(wanted["after"]), id_field)
    if "before" in wanted:
        return _older_than(rows, Cursor.parse(wanted["before"]), until, id_field)
    found = _take(rows(until), id_field, "-")
    return Piece(rows=found[:PAGE_SIZE], older=_last(found, id_field), newer=None)


def _older_than[T](rows: RowsUntil[T], place: Cursor, until: datetime, id_field: str) -> Piece[T]:
    """Have one upper bound only: of two, a database may begin at the wrong one and read all between them."""
    strictly = Q(published_at__lt=place.at) | Q(**{f"{id_field}__lt": place.id})
    found = _take(rows(min(until, place.at)).filter(strictly), id_field, "-")
    if not found:
        raise Http404
    return Piece(rows=found[:PAGE_SIZE], older=_last(found, id_field), newer=_cursor(found[0], id_field))


def _newer_than[T](rows: QuerySet[Any, T], place: Cursor, id_field: str) -> Piece[T]:
    strictly = Q(published_at__gt=place.at) | Q(**{f"{id_field}__gt": place.id})
    found = _take(rows.filter(strictly, published_at__gte=place.at), id_field, "")
    shown = found[:PAGE_SIZE][::-1]
    if len(found) <= PAGE_SIZE:
        return Piece(rows=shown, older=None, newer=None, is_first=True)
    return Piece(rows=shown, older=_cursor(shown[-1], id_field), newer=_cursor(shown[0], id_field))


def _take[T](rows: QuerySet[Any, T], id_field: str, direction: str) -> list[T]:
    """One more than is shown tells whether there are more."""
    return list(rows.order_by(f"{direction}published_at", f"{direction}{id_field}")[: PAGE_SIZE + 1])


def _last(found: list[Any], id_field: str) -> Cursor | None:
    """Return where the next piece begins, if there are more rows than are shown."""
    return _cursor(found[PAGE_SIZE - 1], id_field) if len(found) > PAGE_SIZE else None


def _cursor(row: Any, id_field: str) -> Cursor:  # noqa: ANN401 - a row of one table or the other
    return Cursor(at=row.published_at, id=getattr(row, id_field))
