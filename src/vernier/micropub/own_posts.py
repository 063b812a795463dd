"""The author's post that a client names by its address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vernier.media_api.errors import invalid_request
from vernier.media_api.reading import quoted
from vernier.posts.addresses import find_by_url
from vernier.posts.models import Post

if TYPE_CHECKING:
    from vernier.authors.models import Author


def own_post(author: Author, url: str, *, base: str, deleted_too: bool = False) -> Post:
    """Return the post that is or was at this address; raise ApiError 400 for none, or another author's.

    The same answer for both: nobody learns of others' drafts.
    """
    post = find_by_url(base, url, among=Post.objects.filter(author=author))
    if post is None:
        raise invalid_request(f"There is no post of yours at {quoted(url)}.")
    if post.deleted_at is not None and not deleted_too:
        raise invalid_request(f"The post at {quoted(url)} is deleted; undelete it first.")
    return post
