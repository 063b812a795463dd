"""Create and change posts. An entry is written as a whole; whoever calls decides what of it is new."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.utils import timezone

from vernier.media.models import Media
from vernier.posts.content import render, sanitise_source
from vernier.posts.entry import Status
from vernier.posts.exceptions import PostChanged, PostEmpty, PostNotFound, PropertyInvalid, RetryKeyReused
from vernier.posts.kinds import discover_kind
from vernier.posts.models import Permalink, Photo, Post, RetryKey, Tag, offset_minutes
from vernier.posts.permalinks import change_slug, give_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from vernier.authors.models import Author
    from vernier.posts.entry import Entry

# Whoever sends a key again within a day gets the same answer, as for uploads.
RETRY_KEY_KEPT = timedelta(hours=24)
# As in the column: a single sign can stand for a whole phrase.
TAG_SLUG_CHARACTERS_MAX = 300
# What does not tell one tag from another; C, C++ and C# are three.
_NOT_IN_TAG_SLUG = re.compile(r"[^\w\s+#-]")
# So many expired keys go at a time.
PRUNE_BATCH_ROWS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """What makes a second sending of the same post known: a key, the SHA-256 of what was sent, and for how long."""

    key: str
    sha256: str
    kept: timedelta = RETRY_KEY_KEPT
    # Made from what was sent and not by a client that means it: one who deletes a post may write it again.
    is_guess: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """The answer to a creation; `is_new` tells it from the answer to a repeated one."""

    post: Post
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a post brings that was published before: its identity, its paths (the current one first), its last change.

    A post whose id is here already is the same post; paths that are taken by others are left out.
    """

    post_id: UUID
    paths: tuple[str, ...] = ()
    updated_at: datetime | None = None


def create_post(
    author: Author,
    entry: Entry,
    *,
    retry: Retry | None = None,
    origin: Origin | None = None,
    now: datetime | None = None,
) -> Created:
    """Write a new post, or return the one that the same `retry` or `origin` has made before.

    Raises PostEmpty, PropertyInvalid, and RetryKeyReused where the key came with other content.
    """
    now = now or timezone.now()
    check_new(entry)
    # Before the transaction, which on SQLite keeps every other writer waiting.
    render(entry.content)
    try:
        with transaction.atomic():
            return _create(author, entry, retry=retry, origin=origin, now=now)
    except IntegrityError:
        # Where writers do not wait for each other, two sendings meet at the constraint of their key.
        earlier = _earlier(author, retry, now)
        if earlier is None:
            raise
        return Created(post=earlier, is_new=False)


def check_new(entry: Entry) -> None:
    """Raise PostEmpty or PropertyInvalid for an entry that cannot become a post."""
    entry.check()
    if entry.is_empty:
        raise PostEmpty("The post is empty: it has neither text nor photos nor any other property.")


def find_retry(author: Author, retry: Retry, *, now: datetime | None = None) -> Post | None:
    """Return the post that the same `retry` has made before; raises RetryKeyReused as `create_post` does."""
    known = RetryKey.objects.select_related("post").filter(author=author, key=retry.key).first()
    return _post_of(known, retry, now or timezone.now()) if known else None


def change_post(
    author: Author,
    post_id: UUID,
    edit: Callable[[Entry], Entry],
    *,
    revision: int | None = None,
    now: datetime | None = None,
) -> Post:
    """Write what `edit` makes of the author's post, and return it; nothing is written where that is nothing new.

    With a `revision` it must still be that one. Raises PostNotFound, PostChanged, PropertyInvalid, PostEmpty.
    """
    now = now or timezone.now()
    with transaction.atomic():
        post = lock_own(author, post_id)
        if revision is not None and post.revision != revision:
            raise PostChanged("The post was changed meanwhile; load it again, and repeat the change.")
        before = post.entry
        entry = edit(before)
        entry.check()
        if entry.is_empty:
            raise PostEmpty("Nothing would be left of the post; to remove it, delete it.")
        if entry == before:
            return post
        was_public = post.is_public
        post.updated_at = now
        post.revision += 1
        _fill(post, entry, now=now)
        if was_public or post.is_public:
            post.lists_changed_at = now
        if entry.slug != post.slug:
            change_slug(post, entry.slug)
            Permalink.objects.get_or_create(path=post.path, defaults={"post": post})
        post.save()
        _write_parts(post, entry)
    return Post.objects.get(pk=post.pk)


def lock_own(author: Author, post_id: UUID) -> Post:
    """Return the author's post, locked until the transaction ends; raise PostNotFound."""
    post = Post.objects.select_for_update().live().filter(pk=post_id, author=author).first()
    if post is None:
        raise PostNotFound(f"There is no post {post_id} of this author.")
    return post


def prune_retry_keys(*, now: datetime | None = None) -> int:
    """Delete a batch of the keys that have expired and return how many; write nothing where there are none."""
    expired = RetryKey.objects.filter(expires_at__lte=now or timezone.now())
    ids = list(expired.values_list("pk", flat=True)[:PRUNE_BATCH_ROWS])
    return RetryKey.objects.filter(pk__in=ids).delete()[0] if ids else 0


def _create(author: Author, entry: Entry, *, retry: Retry | None, origin: Origin | None, now: datetime) -> Created:
    earlier = _earlier(author, retry, now) or _imported(author, origin)
    if earlier is not None:
        return Created(post=earlier, is_new=False)
    post = Post(author=author, created_at=now, updated_at=now)
    _fill(post, entry, now=now)
    give_path(post, entry, now=now)
    if origin is not None:
        _take_over(post, origin)
    if post.is_public:
        post.lists_changed_at = now
    post.save(force_insert=True)
    Permalink.objects.create(path=post.path, post=post)
    if origin is not None:
        others = (Permalink(path=path, post=post) for path in origin.paths if path != post.path)
        Permalink.objects.bulk_create(others, ignore_conflicts=True)
    _write_parts(post, entry)
    if retry is not None:
        RetryKey.objects.create(
            author=author, key=retry.key, sha256=retry.sha256, post=post, expires_at=now + retry.kept
        )
    return Created(post=post, is_new=True)


def _earlier(author: Author, retry: Retry | None, now: datetime) -> Post | None:
    """Return the post of the key; one that stands for nothing any more is removed."""
    if retry is None:
        return None
    known = RetryKey.objects.select_related("post").filter(author=author, key=retry.key).first()
    if known is None:
        return None
    post = _post_of(known, retry, now)
    if post is None:
        known.delete()
    return post


def _post_of(known: RetryKey, retry: Retry, now: datetime) -> Post | None:
    if known.expires_at <= now or (retry.is_guess and known.post.deleted_at is not None):
        return None
    if known.sha256 != retry.sha256:
        raise RetryKeyReused("This Idempotency-Key was used for another post; use a new key for a new post.")
    return known.post


def _imported(author: Author, origin: Origin | None) -> Post | None:
    """Return the post that came from there before; raise PostNotFound where it is another author's."""
    post = Post.objects.filter(pk=origin.post_id).first() if origin else None
    if post is not None and post.author_id != author.pk:
        raise PostNotFound(f"The post {post.pk} is here already, and another author's.")
    return post


def _take_over(post: Post, origin: Origin) -> None:
    """Set what the origin says of a new post; what it was called there is its path here unless that is taken."""
    post.id = origin.post_id
    post.updated_at = origin.updated_at or post.updated_at
    # It stands among its author's posts where it was written, and not where it arrived.
    post.created_at = min(post.created_at, post.published_at or post.created_at)
    taken = set(Permalink.objects.filter(path__in=origin.paths).values_list("path", flat=True))
    post.path = next((path for path in origin.paths[:1] if path not in taken), post.path)


def _fill(post: Post, entry: Entry, *, now: datetime) -> None:
    """Set the columns; the path, which changes by rules of its own, is left."""
    content = sanitise_source(entry.content) if entry.content else None
    post.kind = discover_kind(entry)
    post.status, post.visibility = entry.status, entry.visibility
    post.title, post.summary = entry.title, entry.summary
    post.content_format, post.content = (content.format, content.source) if content else ("", "")
    post.content_html = render(content)
    post.properties = entry.properties
    published_at = entry.published_at
    if published_at is None and entry.status is Status.PUBLISHED:
        published_at = timezone.localtime(now)
    post.published_at = published_at
    post.published_offset_minutes = offset_minutes(published_at) if published_at else 0


def _write_parts(post: Post, entry: Entry) -> None:
    """Write photos and tags anew, in their order."""
    attached = frozenset(post.photos.exclude(media=None).values_list("media_id", flat=True))
    require_own_media(post.author_id, entry, attached=attached)
    post.photos.all().delete()
    Photo.objects.bulk_create(
        Photo(post=post, position=position, media_id=one.media_id, url=one.url, alt=one.alt, caption=one.caption)
        for position, one in enumerate(entry.photos)
    )
    post.tags.all().delete()
    named = {slug: name for name in reversed(entry.tags) if (slug := tag_slug(name))}
    in_order = sorted(named.items(), key=lambda item: entry.tags.index(item[1]))
    Tag.objects.bulk_create(
        Tag(post=post, position=position, name=name, slug=slug, published_at=post.published_at)
        for position, (slug, name) in enumerate(in_order)
    )


def tag_slug(name: str) -> str:
    """Return what names the tag in addresses: letters of any script; other signs only where there is nothing else."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    words = _NOT_IN_TAG_SLUG.sub("", folded).replace("-", " ").split()
    slug = "-".join(words).strip("-_").lstrip("#") or "-".join(folded.replace("/", " ").split())
    # Browsers take "." and ".." in an address for directories.
    return ("-".join("dot" for _ in slug) if slug in {".", ".."} else slug)[:TAG_SLUG_CHARACTERS_MAX]


def require_own_media(author_id: int, entry: Entry, *, attached: frozenset[UUID] = frozenset()) -> None:
    """Raise PropertyInvalid for a Media that is not yet `attached` and is not the author's, or is deleted."""
    wanted = {photo.media_id for photo in entry.photos if photo.media_id} - attached
    own = set(Media.objects.live().filter(pk__in=wanted, owner_id=author_id).values_list("pk", flat=True))
    for missing in sorted(wanted - own):
        raise PropertyInvalid("photo", str(missing), "an image of this author that is not deleted")
