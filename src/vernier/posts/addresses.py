"""Addresses of posts and of the images in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import UUID

from vernier.posts.models import Permalink, Post

if TYPE_CHECKING:
    from vernier.posts.models import PostQuerySet

_MEDIA_PATH = re.compile(r"/media/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:/v\d+/[^/]+)?/?")


def post_url(base: str, post: Post) -> str:
    """Return the permalink."""
    return f"{base}/{post.path}"


def find_by_path(path: str) -> Post | None:
    """Return the post that is or was at this path, deleted ones included."""
    link = Permalink.objects.select_related("post").filter(path=path.strip("/")).first()
    return link.post if link else None


def find_by_url(base: str, url: str, *, among: PostQuerySet | None = None) -> Post | None:
    """Return the post that is or was at this address of the site, deleted ones included."""
    path = own_path(base, url)
    if path is None:
        return None
    posts = Post.objects.all() if among is None else among
    return posts.filter(permalinks__path=path.strip("/")).first()


def media_id_of(base: str, url: str) -> UUID | None:
    """Return which Media of this site the address belongs to, its renditions included; None for any other."""
    path = own_path(base, url)
    match = _MEDIA_PATH.fullmatch(path) if path else None
    return UUID(match[1]) if match else None


def own_path(base: str, url: str) -> str | None:
    """Return the path of an address of this site, None for one elsewhere: http or https, any spelling of the host."""
    try:
        theirs, ours = urlsplit(url.strip()), urlsplit(base)
        is_ours = (theirs.hostname, _port(theirs.port)) == (ours.hostname, _port(ours.port))
    except ValueError:
        return None
    if theirs.scheme not in {"http", "https"} or not is_ours:
        return None
    return theirs.path.removeprefix(ours.path.rstrip("/"))


def _port(port: int | None) -> int | None:
    """Treat the two default ports as one: a proxy may speak the one outside and the other inside."""
    return None if port in {80, 443} else port
