"""From a form to a post: the same form sent twice makes one post."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from vernier.posts.entry import Entry, EntryPhoto, Status
from vernier.posts.exceptions import RetryKeyReused
from vernier.posts.models import Post, RetryKey
from vernier.posts.write import Retry, change_post, create_post

if TYPE_CHECKING:
    from uuid import UUID

    from vernier.authors.models import Author
    from vernier.editor.post_form import PostForm


def save(
    author: Author, form: PostForm, photos: tuple[EntryPhoto, ...], post: Post | None, *, status: Status
) -> Post:
    """Write what the valid form says and return the post; raises what `vernier.posts.write` raises."""

    def edited(before: Entry) -> Entry:
        return replace(form.edited(before, status=status), photos=photos)

    if post is not None:
        return change_post(author, post.pk, edited, revision=form.cleaned_data["revision"])
    return _create(author, edited(Entry()), token=form.cleaned_data["token"])


def _create(author: Author, entry: Entry, *, token: str) -> Post:
    if not token:
        return create_post(author, entry).post
    retry = Retry(key=_key(token), sha256=hashlib.sha256(repr(entry).encode()).hexdigest())
    try:
        return create_post(author, entry, retry=retry).post
    except RetryKeyReused:
        # The author went back to the form after it was saved, and changed something.
        return change_post(author, saved_as(author, token), lambda before: _over(before, entry), revision=1)


def saved_as(author: Author, token: str) -> UUID:
    """Return which post the form with this token was saved as; raise RetryKey.DoesNotExist."""
    return RetryKey.objects.get(author=author, key=_key(token)).post_id


def _key(token: str) -> str:
    return f"editor:{token}"


def _over(before: Entry, entry: Entry) -> Entry:
    """Return the entry of the form that was empty once: what the post was given since stays where it says nothing."""
    return replace(entry, published_at=entry.published_at or before.published_at, slug=entry.slug or before.slug)
