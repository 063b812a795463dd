"""A post as pages and feeds show it: one value, of which every template and every format takes what it needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import quote

from django.db.models import Prefetch
from django.utils import timezone
from django.utils.dateformat import format as format_date
from django.utils.text import Truncator

from vernier.authors.profiles import first_author_id
from vernier.media_api.links import base_url
from vernier.pages.links import Link
from vernier.pages.photos import loaded_photos, newest_versions, show_photos, show_photos_to_author
from vernier.pages.profile import authors_with_photo, card_of
from vernier.pages.relations import RSVPS, relations_of, rsvp_of
from vernier.pages.text import pictures_in, text_for_feed, text_for_page
from vernier.posts.addresses import post_url
from vernier.posts.content import plain_text
from vernier.posts.entry import Kind, Status, Visibility

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from django.http import HttpRequest
    from django.utils.safestring import SafeString

    from vernier.media.models import Version
    from vernier.pages.photos import ShownPhoto
    from vernier.pages.profile import Card
    from vernier.pages.relations import Relation
    from vernier.pages.text import Pictures
    from vernier.posts.models import Post, PostQuerySet

type ShowText = Callable[..., SafeString]

# What fits into a preview of a link, and into the title of a window.
DESCRIPTION_CHARACTERS = 200
TITLE_CHARACTERS = 70
# About ten screens of a telephone: a list with longer texts in full would be a list of one. What stands for them is a
# paragraph, made of so much of the HTML as surely has it.
LISTED_HTML_CHARACTERS_MAX = 10_000
BEGINNING_CHARACTERS = 400
_HTML_OF_BEGINNING = 4000

# The widths that the style sheet gives to photos: the whole column, or half of it.
_WIDE = "(min-width: 45rem) 42rem, 100vw"
_HALF = "(min-width: 45rem) 21rem, 50vw"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who reads, when, and what addresses begin with for them; no `author_id` for anybody who is not signed in."""

    base: str
    now: datetime
    author_id: int | None = None
    # Who is at home at the site's own address.
    first_author_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTag:
    name: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownEntry:
    """All that is shown of a post."""

    id: str
    url: str
    kind: str
    title: str
    summary: str
    html: SafeString
    photos: tuple[ShownPhoto, ...]
    tags: tuple[ShownTag, ...]
    author: Card
    # With the offset of its author.
    published_at: datetime
    # When what readers see last changed; never before it was published.
    modified_at: datetime
    # When its author last changed it, which is what readers of a page want to know.
    edited_at: datetime
    relations: tuple[Relation, ...]
    rsvp: str
    rsvp_text: str
    syndication: tuple[Link, ...]
    is_indexed: bool
    # For its author alone.
    state: str
    edit_url: str

    @property
    def published_text(self) -> str:
        return format_date(self.published_at, "j F Y, H:i")

    @property
    def day_text(self) -> str:
        return format_date(self.published_at, "j F Y")

    @property
    def is_changed(self) -> bool:
        return self.modified_at > self.published_at

    @property
    def edited_text(self) -> str:
        """The day of its last edit, where that is a later one."""
        text = format_date(self.edited_at, "j F Y")
        return text if self.edited_at > self.published_at and text != self.day_text else ""

    @property
    def is_shortened(self) -> bool:
        """Whether lists show its summary, or its beginning, in place of its text."""
        if len(self.html) > LISTED_HTML_CHARACTERS_MAX:
            return bool(self.summary or self.beginning)
        return bool(self.title and self.summary and self.html)

    @property
    def beginning(self) -> str:
        """The first words of its text."""
        words = plain_text(self.html[:_HTML_OF_BEGINNING]).split()
        return Truncator(" ".join(words)).chars(BEGINNING_CHARACTERS)

    @property
    def description(self) -> str:
        """A short plain text for previews."""
        text = self.summary or plain_text(self.html) or " ".join(photo.alt for photo in self.photos)
        return Truncator(" ".join(text.split())).chars(DESCRIPTION_CHARACTERS)

    @property
    def heading(self) -> str:
        """Its title, else what can stand in for one where there must be one."""
        if self.title:
            return self.title
        text = " ".join(plain_text(self.html).split() or self.summary.split())
        return Truncator(text).chars(TITLE_CHARACTERS) if text else f"{Kind(self.kind).label}, {self.day_text}"

    @property
    def pictures(self) -> tuple[ShownPhoto, ...]:
        """The photos that readers see."""
        return tuple(photo for photo in self.photos if photo.picture)

    @property
    def preview(self) -> ShownPhoto | None:
        """The photo for previews of the link: one of which the size is known, if there is one."""
        linked = (photo for photo in self.pictures if photo.picture and photo.picture.is_linked)
        ours = (photo for photo in self.pictures if photo.picture and not photo.picture.is_linked)
        return next(chain(ours, linked), None)

    @property
    def layout(self) -> str:
        """How its photos are laid out: the first of an odd number is wide, all others are side by side."""
        return "one" if len(self.photos) == 1 else "many"

    @property
    def first_sizes(self) -> str:
        """How wide the first photo is on the page, for the choice of a source."""
        return _WIDE if len(self.photos) % 2 else _HALF

    @property
    def sizes(self) -> str:
        """How wide the other photos are."""
        return _HALF


def reader_of(request: HttpRequest, *, now: datetime | None = None) -> Reader:
    """Return who sends the request."""
    author_id = request.user.pk if request.user.is_authenticated else None
    return replace(anybody(request, now=now or timezone.now()), author_id=author_id)


def anybody(request: HttpRequest, *, now: datetime) -> Reader:
    """Return a reader who is not signed in."""
    return Reader(base=base_url(request), now=now, first_author_id=first_author_id())


def load(posts: PostQuerySet) -> PostQuerySet:
    """Have all that is shown of the posts loaded, in a number of queries that does not grow with them."""
    return posts.defer("content").prefetch_related("tags", Prefetch("photos", queryset=loaded_photos()))


def show(posts: Sequence[Post], reader: Reader) -> list[ShownEntry]:
    """Return what a page shows this reader of posts that are loaded."""
    return _show(posts, reader, text_for_page)


def show_in_feed(posts: Sequence[Post], reader: Reader) -> list[ShownEntry]:
    """Return what a feed shows of posts that are loaded."""
    return _show(posts, reader, text_for_feed)


def _show(posts: Sequence[Post], reader: Reader, text: ShowText) -> list[ShownEntry]:
    if not posts:
        return []
    authors = authors_with_photo().filter(pk__in={post.author_id for post in posts})
    own = (post for post in posts if post.author_id == reader.author_id)
    common = _Common(
        reader=reader,
        text=text,
        cards={one.pk: card_of(one, base=reader.base, first_id=reader.first_author_id) for one in authors},
        pictures=pictures_in((post.content_html for post in posts), reader.base),
        newest=newest_versions(photo for post in own for photo in post.photos.all()),
    )
    return [_shown(post, common) for post in posts]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Common:
    """What was looked up for all posts at once."""

    reader: Reader
    text: ShowText
    cards: dict[int, Card]
    pictures: Pictures
    newest: dict[UUID, Version]


def _shown(post: Post, common: _Common) -> ShownEntry:
    reader = common.reader
    is_own = post.author_id == reader.author_id
    published_at = post.published or reader.now
    url = post_url(reader.base, post)
    rsvp = rsvp_of(post)
    return ShownEntry(
        id=f"urn:uuid:{post.pk}",
        url=url,
        kind=post.kind,
        title=post.title.strip(),
        summary=post.summary.strip(),
        html=common.text(post.content_html, url=url, base=reader.base, pictures=common.pictures),
        photos=_photos(post, common, is_own=is_own),
        tags=tuple(ShownTag(name=tag.name, path=tag_path(tag.slug)) for tag in post.tags.all()),
        author=common.cards[post.author_id],
        published_at=published_at,
        modified_at=max(post.shown_updated_at.astimezone(published_at.tzinfo), published_at),
        edited_at=post.updated_at.astimezone(published_at.tzinfo),
        relations=relations_of(post),
        rsvp=rsvp,
        rsvp_text=RSVPS.get(rsvp, ""),
        syndication=tuple(Link.to(url) for url in post.targets("syndication")),
        is_indexed=post.status == Status.PUBLISHED and post.visibility == Visibility.PUBLIC,
        state=_state(post, reader.now) if is_own else "",
        edit_url=f"/editor/posts/{post.pk}" if is_own else "",
    )


def tag_path(slug: str) -> str:
    """Return the path of the page with the posts that have this tag."""
    return f"/tags/{quote(slug, safe='')}"


def _photos(post: Post, common: _Common, *, is_own: bool) -> tuple[ShownPhoto, ...]:
    photos, reader = post.photos.all(), common.reader
    if is_own:
        return show_photos_to_author(photos, reader.base, common.newest, now=reader.now)
    return show_photos(photos, reader.base)


def _state(post: Post, now: datetime) -> str:
    """Say why others do not see the post, or do not find it; empty where they do."""
    if post.status == Status.DRAFT:
        return "This is a draft. Only you see it."
    if post.visibility == Visibility.PRIVATE:
        return "This post is private. Only you see it."
    if post.is_scheduled(now=now) and post.published:
        return f"This post is scheduled for {format_date(post.published, 'j F Y, H:i')}. Until then only you see it."
    if post.visibility == Visibility.UNLISTED:
        return "This post is unlisted. Only those who have its address find it."
    return ""
