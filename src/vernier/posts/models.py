"""The rows: posts, their photos and tags, and every permalink that a post has ever had."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from vernier.media.models import Media
from vernier.posts.entry import (
    URL_CHARACTERS_MAX,
    Content,
    ContentFormat,
    Entry,
    EntryPhoto,
    Kind,
    Status,
    Visibility,
)

if TYPE_CHECKING:
    from vernier.authors.models import Author

SHA256_HEX_LENGTH = 64


class PostQuerySet(models.QuerySet["Post"]):
    def live(self) -> PostQuerySet:
        """Those that are not deleted."""
        return self.filter(deleted_at=None)

    def published(self, *, now: datetime) -> PostQuerySet:
        """Those whose time has come, whoever may read them."""
        return self.live().filter(status=Status.PUBLISHED, published_at__lte=now)

    def listed(self, *, now: datetime) -> PostQuerySet:
        """Those that pages and feeds list, newest first."""
        return self.published(now=now).filter(visibility=Visibility.PUBLIC).order_by("-published_at", "-pk")

    def with_last_change(self) -> PostQuerySet:
        """Each with `last_change`: when any post last came into a list that readers see, left it or changed."""
        times = Post.objects.filter(lists_changed_at__isnull=False).order_by("-lists_changed_at")
        return self.annotate(last_change=models.Subquery(times.values("lists_changed_at")[:1]))  # type: ignore[no-redef]

    def readable_by(self, viewer_id: int | None, *, now: datetime) -> PostQuerySet:
        """Those that whoever has the address may read; an author reads their own in any state."""
        is_open = Q(
            status=Status.PUBLISHED,
            published_at__lte=now,
            visibility__in=(Visibility.PUBLIC, Visibility.UNLISTED),
        )
        return self.live().filter(is_open | Q(author_id=viewer_id) if viewer_id is not None else is_open)


class Post(models.Model):
    """One post. What is searched and sorted by has columns, other properties are kept as they came."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="posts")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    status = models.CharField(max_length=9, choices=Status.choices)
    visibility = models.CharField(max_length=8, choices=Visibility.choices)
    # Below the site's address, without slashes around it: "2026/11/a-walk".
    path = models.CharField(max_length=255, unique=True)

    title = models.TextField(blank=True)
    summary = models.TextField(blank=True)
    content_format = models.CharField(max_length=8, choices=ContentFormat.choices, blank=True)
    content = models.TextField(blank=True)
    # What readers see of it, sanitised.
    content_html = models.TextField(blank=True)
    properties = models.JSONField(default=dict, blank=True)

    created_at = models.DateTimeField()
    # When readers may see it; none for a draft that names no time.
    published_at = models.DateTimeField(null=True, blank=True)
    published_offset_minutes = models.SmallIntegerField(default=0)
    updated_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True, blank=True)
    # When it was last written where it is, or was until then, for everybody. That it left a list is nowhere else.
    lists_changed_at = models.DateTimeField(null=True, blank=True)
    # Counts the changes, so that one who has read an older state does not undo a newer one.
    revision = models.PositiveIntegerField(default=1)

    # Of `with_last_change`.
    last_change: datetime | None

    objects = PostQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(status=Status.PUBLISHED) | Q(published_at__isnull=False), name="post_published_at_a_time"
            ),
        ]
        indexes = [
            models.Index(
                fields=["-published_at", "-id"],
                name="post_listed",
                condition=Q(status=Status.PUBLISHED, visibility=Visibility.PUBLIC, deleted_at=None),
            ),
            models.Index(
                fields=["author", "-published_at", "-id"],
                name="post_listed_of_author",
                condition=Q(status=Status.PUBLISHED, visibility=Visibility.PUBLIC, deleted_at=None),
            ),
            models.Index(
                fields=["-lists_changed_at"], name="post_lists_changed", condition=Q(lists_changed_at__isnull=False)
            ),
            # The author's own list, drafts included.
            models.Index(fields=["author", "-created_at", "-id"], name="post_of_author"),
        ]

    def __str__(self) -> str:
        return self.path

    @property
    def published(self) -> datetime | None:
        """The time of publishing with the offset that its author wrote."""
        if self.published_at is None:
            return None
        return self.published_at.astimezone(timezone(timedelta(minutes=self.published_offset_minutes)))

    @property
    def slug(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def entry(self) -> Entry:
        """All that it says, as a value."""
        return Entry(
            title=self.title,
            summary=self.summary,
            content=Content(format=ContentFormat(self.content_format), source=self.content) if self.content else None,
            photos=tuple(photo.entry for photo in self.photos.all()),
            tags=tuple(tag.name for tag in self.tags.all()),
            published_at=self.published,
            status=Status(self.status),
            visibility=Visibility(self.visibility),
            slug=self.slug,
            properties=self.properties,
        )

    @property
    def shown_updated_at(self) -> datetime:
        """When what readers see has last changed: by an edit, or as a photo became ready or was deleted."""
        changed = (photo.changed_at for photo in self.photos.all())
        return max([self.updated_at, *(at for at in changed if at is not None)])

    @property
    def is_public(self) -> bool:
        """Whether pages and feeds list it, now or when its time comes."""
        return self.status == Status.PUBLISHED and self.visibility == Visibility.PUBLIC and self.deleted_at is None

    def is_scheduled(self, *, now: datetime) -> bool:
        return self.status == Status.PUBLISHED and self.published_at is not None and self.published_at > now

    def targets(self, name: str) -> list[str]:
        """Return the addresses that a property such as `in-reply-to` names."""
        return [url for value in self.properties.get(name, []) if (url := url_of(value))]


class Permalink(models.Model):
    """A path that a post has or had: none is ever given to another post."""

    path = models.CharField(primary_key=True, max_length=255)
    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="permalinks")

    def __str__(self) -> str:
        return self.path


class Photo(models.Model):
    """A photo of a post, in its place, with its alt text."""

    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="photos")
    position = models.PositiveIntegerField()
    media = models.ForeignKey(Media, null=True, blank=True, on_delete=models.PROTECT, related_name="uses")
    url = models.CharField(max_length=URL_CHARACTERS_MAX, blank=True)
    alt = models.TextField(blank=True)
    caption = models.TextField(blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["post", "position"], name="photo_once_per_position"),
            models.CheckConstraint(
                condition=Q(media__isnull=False, url="") | Q(media=None) & ~Q(url=""), name="photo_is_ours_or_linked"
            ),
        ]

    def __str__(self) -> str:
        return self.url or str(self.media_id)

    @property
    def entry(self) -> EntryPhoto:
        return EntryPhoto(media_id=self.media_id, url=self.url, alt=self.alt, caption=self.caption)

    @property
    def changed_at(self) -> datetime | None:
        """When the image that is served became ready, or was deleted; none for one not ready yet, or elsewhere."""
        if self.media is None:
            return None
        return self.media.current.ready_at if self.media.current else self.media.deleted_at


class Tag(models.Model):
    """A tag of a post, in its place; `published_at` is the post's, for lists in order."""

    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="tags")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=100)
    slug = models.CharField(max_length=300)
    published_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["post", "slug"], name="tag_once_per_post")]
        indexes = [models.Index(fields=["slug", "-published_at", "-post"], name="tag_listed")]

    def __str__(self) -> str:
        return self.name


class RetryKey(models.Model):
    """A key under which a post was created: whoever sends it again gets that post."""

    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=SHA256_HEX_LENGTH)
    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="+")
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["author", "key"], name="retry_key_once")]

    def __str__(self) -> str:
        return self.key


def own_posts(author: Author) -> PostQuerySet:
    """Return the author's posts that are not deleted, newest first, drafts included."""
    return Post.objects.live().filter(author=author).order_by("-created_at", "-pk")


def offset_minutes(at: datetime) -> int:
    """Return the offset from UTC that a time was written with, in minutes."""
    offset = at.utcoffset()
    return 0 if offset is None else round(offset.total_seconds() / 60)


def url_of(value: Any) -> str:  # noqa: ANN401 - whatever a client has sent
    """Return the address that a value of a property is or holds (a nested h-cite), or nothing."""
    if isinstance(value, dict):
        nested = value.get("properties")
        urls = nested.get("url") if isinstance(nested, dict) else None
        value = value.get("value") or (urls[0] if isinstance(urls, list) and urls else "")
    if isinstance(value, str) and value.strip().lower().startswith(("http://", "https://")):
        return value.strip()
    return ""
