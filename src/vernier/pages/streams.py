"""Streams: the lists of posts that have a page and feeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from django.http import Http404

from vernier.authors.profiles import HOME, author_path
from vernier.pages.conf import pages_settings
from vernier.pages.entries import load, tag_path
from vernier.pages.listing import piece_of
from vernier.pages.profile import authors_with_photo
from vernier.posts.entry import Status, Visibility
from vernier.posts.models import Post, Tag
from vernier.posts.write import tag_slug

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from django.db.models import QuerySet

    from vernier.authors.models import Author
    from vernier.pages.entries import ShownEntry
    from vernier.pages.listing import Piece
    from vernier.posts.models import PostQuerySet


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """A list of posts, newest first: the path of its page, its title, and whose profile stands above it."""

    path: str
    title: str
    # Its posts, or the rows of its tag, until a time; and the newest time that is asked for.
    rows: Callable[[datetime], Any]
    until: datetime
    is_of_tag: bool = False
    owner: Author | None = None

    @property
    def full_title(self) -> str:
        """Its title where the site is not seen around it."""
        site = pages_settings().title
        return site if self.path == HOME else f"{self.title} · {site}"

    def feed_path(self, file_name: str) -> str:
        return f"{self.path.rstrip('/')}/{file_name}"

    def is_at(self, name: str) -> bool:
        """Whether a tag's or an author's name in an address is spelled as in its path."""
        return quote(name, safe="") == self.path.rpartition("/")[2]

    def piece(self, wanted: Mapping[str, str]) -> Piece[Post]:
        """Return the posts of the place that an address names, loaded; raise Http404 where there is none."""
        if not self.is_of_tag:
            return piece_of(lambda until: load(self.rows(until)).with_last_change(), wanted, until=self.until)
        piece = piece_of(self.rows, wanted, until=self.until, id_field="post_id")
        listed = (
            load(Post.objects.listed(now=self.until)).with_last_change().in_bulk([row.post_id for row in piece.rows])
        )
        return replace(piece, rows=[listed[row.post_id] for row in piece.rows if row.post_id in listed])


def last_change(posts: Sequence[Post], entries: Iterable[ShownEntry]) -> datetime | None:
    """Return when what a list shows last changed; that is later than its entries tell where one has left it."""
    times = [entry.modified_at for entry in entries]
    return max([*times, *(post.last_change for post in posts[:1] if post.last_change)], default=None)


def site_stream(*, now: datetime) -> Stream:
    """Return the posts of the site; its first author is the owner of its address."""
    owner = authors_with_photo().first()
    return Stream(path=HOME, title=pages_settings().title, rows=_listed, until=now, owner=owner)


def author_stream(name: str, *, now: datetime) -> Stream:
    """Return the posts of an author; raise Http404 where there is none of that name."""
    owner = authors_with_photo().filter(username=name, is_active=True).first()
    if owner is None:
        raise Http404
    return Stream(
        path=author_path(owner),
        title=owner.shown_name,
        rows=lambda until: _listed(until).filter(author=owner),
        until=now,
        owner=owner,
    )


def month_stream(title: str, path: str, first: datetime, end: datetime, *, now: datetime) -> Stream:
    """Return the posts from `first` until before `end`; raise Http404 where readers find none."""
    stream = Stream(
        path=path,
        title=title,
        rows=lambda until: _listed(until).filter(published_at__gte=first),
        until=until_before(end, now=now),
    )
    if not stream.rows(stream.until).exists():
        raise Http404
    return stream


def tag_stream(name: str, *, now: datetime) -> Stream:
    """Return the posts with a tag, however it is spelled; raise Http404 where readers find none."""
    slug = tag_slug(name)
    newest = _tagged(slug, now).order_by("-published_at", "-post_id").first()
    if newest is None:
        raise Http404
    return Stream(
        path=tag_path(slug), title=newest.name, rows=lambda until: _tagged(slug, until), until=now, is_of_tag=True
    )


def until_before(end: datetime, *, now: datetime) -> datetime:
    """Return the last moment before `end`, or now: one upper bound in place of two."""
    return min(now, end - timedelta.resolution)


def _listed(until: datetime) -> PostQuerySet:
    return Post.objects.listed(now=until)


def _tagged(slug: str, until: datetime) -> QuerySet[Tag]:
    return Tag.objects.filter(
        slug=slug,
        published_at__lte=until,
        post__status=Status.PUBLISHED,
        post__visibility=Visibility.PUBLIC,
        post__deleted_at=None,
    )
