"""What kind of post an entry is, after the IndieWeb's algorithm “Post Type Discovery”."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vernier.posts.content import plain_text, render
from vernier.posts.entry import Kind

if TYPE_CHECKING:
    from vernier.posts.entry import Entry

# The first of these properties that an entry has decides.
_BY_PROPERTY = {
    "rsvp": Kind.RSVP,
    "in-reply-to": Kind.REPLY,
    "repost-of": Kind.REPOST,
    "like-of": Kind.LIKE,
    "bookmark-of": Kind.BOOKMARK,
}


def discover_kind(entry: Entry) -> Kind:
    """Return what kind of post it is; an article is one whose title is not just the beginning of its text."""
    for name, kind in _BY_PROPERTY.items():
        if entry.properties.get(name):
            return kind
    if entry.photos:
        return Kind.PHOTO
    title = " ".join(entry.title.split())
    text = " ".join(plain_text(render(entry.content)).split() or entry.summary.split())
    return Kind.ARTICLE if title and not text.startswith(title) else Kind.NOTE
