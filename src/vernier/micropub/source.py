"""`q=source`: a post as its properties, or a list of the author's posts (Micropub section 3.7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Q

from vernier.media_api.paging import Order, requested_page
from vernier.micropub.own_posts import own_post
from vernier.posts.mf2 import to_properties
from vernier.posts.models import own_posts

if TYPE_CHECKING:
    from vernier.micropub.queries import Query
    from vernier.posts.models import Post, PostQuerySet

TYPE = ["h-entry"]
# That of `own_posts`.
_ORDER = Order(time="created_at", key="pk")


def source(query: Query) -> dict[str, Any]:
    """Return the post at `url`, else the posts, newest first; drafts are the author's own and among them."""
    names = [name for key in ("properties", "properties[]") for name in query.parameters.getlist(key)]
    url = query.parameters.get("url", "")
    if not url:
        posts, paging = requested_page(_listed(query), query.parameters, order=_ORDER)
        return {"items": [_item(post, query.base, names) for post in posts], **paging}
    sees_deleted = "undelete" in query.token.scopes
    post = own_post(query.token.author, url, base=query.base, deleted_too=sees_deleted)
    properties = _properties(post, query.base, names)
    return {"properties": properties} if names else {"type": TYPE, "properties": properties}


def _listed(query: Query) -> PostQuerySet:
    posts = own_posts(query.token.author).prefetch_related("photos", "tags")
    if wanted := query.parameters.get("filter", ""):
        texts = ("title", "summary", "content")
        posts = posts.filter(Q.create([(f"{text}__icontains", wanted) for text in texts], connector=Q.OR))
    if kind := query.parameters.get("post-type", ""):
        posts = posts.filter(kind=kind)
    return posts


def _item(post: Post, base: str, names: list[str]) -> dict[str, Any]:
    return {"type": TYPE, "properties": _properties(post, base, names)}


def _properties(post: Post, base: str, names: list[str]) -> dict[str, list[Any]]:
    properties = to_properties(post, base=base)
    if post.deleted_at is not None:
        properties["deleted"] = [post.deleted_at.isoformat()]
    return {name: properties[name] for name in names if name in properties} if names else properties
