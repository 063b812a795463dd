"""Long lists in pages: each page begins after the last row of the one before, so that its cost does not grow."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Q
from django.http import Http404
from django.utils import timezone

if TYPE_CHECKING:
    from django.db.models import QuerySet

PAGE_ROWS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Page[Row]:
    """Some rows, newest first, and where those begin that are older; empty where there are none."""

    rows: list[Row]
    older: str


def page_of(rows: QuerySet[Any], *, after: str) -> Page[Any]:
    """Return the page that `after` names, the first one where that is empty; raise Http404 where it names nothing.

    The rows have `created_at` and a UUID as `id`.
    """
    if after:
        at, pk = _parse(after)
        # The first condition lets an index go straight to the place.
        rows = rows.filter(Q(created_at__lt=at) | Q(pk__lt=pk), created_at__lte=at)
    found = list(rows.order_by("-created_at", "-pk")[: PAGE_ROWS + 1])
    shown = found[:PAGE_ROWS]
    older = f"{shown[-1].created_at.isoformat()}_{shown[-1].pk}" if len(found) > PAGE_ROWS else ""
    return Page(rows=shown, older=older)


def _parse(text: str) -> tuple[datetime, UUID]:
    time, _, pk = text.partition("_")
    try:
        # A plus sign in an address means a space.
        at = datetime.fromisoformat(time.replace(" ", "+"))
        if timezone.is_naive(at):
            raise Http404
        timezone.localtime(at)
        return at, UUID(pk)
    except (ValueError, OverflowError) as error:
        raise Http404 from error
