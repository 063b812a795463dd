"""The archive: how many posts there are of each month, and the posts of one."""

from __future__ import annotations

from calendar import month_name
from dataclasses import dataclass
from datetime import MINYEAR, UTC, datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Value
from django.http import Http404
from django.utils import timezone
from django.views.decorators.http import require_safe

from vernier.pages.entries import reader_of
from vernier.pages.lists import list_page
from vernier.pages.respond import page
from vernier.pages.streams import month_stream, until_before
from vernier.posts.models import Post

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponseBase

_MONTHS = range(1, 13)


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """A month in which posts were published, in the site's time zone."""

    name: str
    path: str
    posts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Year:
    number: int
    posts: int
    months: tuple[Month, ...]


@require_safe
def archive(request: HttpRequest) -> HttpResponseBase:
    """Show every month that has posts, with their number."""
    reader = reader_of(request)
    context = {"canonical": f"{reader.base}/archive", "years": _years(reader.now)}
    return page(request, "vernier/pages/archive.html", context)


@require_safe
def month(request: HttpRequest, year: str, month: str) -> HttpResponseBase:
    """Show the posts of a month; 404 where readers find none."""
    now = timezone.now()
    first, end = _bounds(int(year), int(month))
    title = f"{month_name[int(month)]} {int(year)}"
    stream = month_stream(title, f"/archive/{year}/{month}", first, end, now=now)
    return list_page(request, stream, now=now, has_feeds=False)


def _years(now: datetime) -> list[Year]:
    """Return the years that have posts, the newest first: two queries for each, by index, however many posts."""
    years: list[Year] = []
    until = now
    while (newest := _newest(until)) is not None:
        number = timezone.localtime(newest).year
        years.append(_year(number, now))
        if number == MINYEAR:
            break
        until = until_before(_bounds(number, 1)[0], now=now)
    return years


def _newest(until: datetime) -> datetime | None:
    return Post.objects.listed(now=until).values_list("published_at", flat=True).first()


def _year(number: int, now: datetime) -> Year:
    """Count each month by itself, all in one query: a database counts a range of an index fast."""
    counts = [_count(number, index, now) for index in _MONTHS]
    found = dict(counts[0].union(*counts[1:], all=True))
    months = tuple(
        Month(name=month_name[index], path=f"/archive/{number:04}/{index:02}", posts=found[index])
        for index in reversed(_MONTHS)
        if found.get(index)
    )
    return Year(number=number, posts=sum(one.posts for one in months), months=months)


def _count(year: int, month: int, now: datetime) -> QuerySet[Any, tuple[int, int]]:
    """Return the query for the month and the number of its posts; no row where there are none."""
    first, end = _bounds(year, month)
    within = Post.objects.listed(now=until_before(end, now=now)).filter(published_at__gte=first).order_by()
    return within.values(month=Value(month)).annotate(posts=Count("*")).values_list("month", "posts")


def _bounds(year: int, month: int) -> tuple[datetime, datetime]:
    """Return the first moment of the month and of the next one, in the site's time zone; raise Http404."""
    try:
        first = datetime(year, month, 1, tzinfo=timezone.get_current_timezone())
        end = first.replace(year=year + month // 12, month=month % 12 + 1)
    except ValueError as error:
        raise Http404 from error
    return _utc(first), _utc(end)


def _utc(at: datetime) -> datetime:
    """Return the time as a database is asked for it: the first month of all begins before there are times in UTC."""
    try:
        return at.astimezone(UTC)
    except OverflowError:
        return datetime(MINYEAR, 1, 1, tzinfo=UTC)
