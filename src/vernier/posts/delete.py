"""Delete posts and bring them back. A deleted post answers 410 at each of its permalinks; its Media stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from vernier.posts.exceptions import PostNotFound
from vernier.posts.models import Post

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from vernier.authors.models import Author


def delete_post(author: Author, post_id: UUID, *, now: datetime | None = None) -> None:
    """Take the author's post back; again is no error. Raises PostNotFound."""
    now = now or timezone.now()
    _set_deleted_at(author, post_id, now, now=now)


def undelete_post(author: Author, post_id: UUID) -> Post:
    """Bring the author's post back as it was, and return it; again is no error. Raises PostNotFound."""
    _set_deleted_at(author, post_id, None, now=timezone.now())
    return Post.objects.get(pk=post_id)


def _set_deleted_at(author: Author, post_id: UUID, at: datetime | None, *, now: datetime) -> None:
    with transaction.atomic():
        post = Post.objects.select_for_update().filter(pk=post_id, author=author).first()
        if post is None:
            raise PostNotFound(f"There is no post {post_id} of this author.")
        if (post.deleted_at is None) == (at is None):
            return
        was_public = post.is_public
        post.deleted_at = at
        if was_public or post.is_public:
            post.lists_changed_at = now
        post.save(update_fields=["deleted_at", "lists_changed_at"])
