"""What a post is about, elsewhere: the pages that it answers, likes, reposts or keeps, and invitations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vernier.pages.links import Link

if TYPE_CHECKING:
    from vernier.posts.models import Post

# Property, class of the link, and the sentence that it ends.
_RELATIONS = (
    ("in-reply-to", "u-in-reply-to", "In reply to"),
    ("like-of", "u-like-of", "Liked"),
    ("repost-of", "u-repost-of", "Reposted"),
    ("bookmark-of", "u-bookmark-of", "Bookmarked"),
)
RSVPS = {
    "yes": "Going",
    "no": "Not going",
    "maybe": "Perhaps going",
    "interested": "Interested",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What a post is about, elsewhere."""

    css_class: str
    verb: str
    link: Link


def relations_of(post: Post) -> tuple[Relation, ...]:
    """Return what the post is about, in the order in which a page says it."""
    return tuple(
        Relation(css_class=css_class, verb=verb, link=Link.to(url))
        for name, css_class, verb in _RELATIONS
        for url in post.targets(name)
    )


def rsvp_of(post: Post) -> str:
    """Return the answer to an invitation, a key of RSVPS, or nothing where it is none that is known."""
    answer = str(next(iter(post.properties.get("rsvp", [])), "")).strip().lower()
    return answer if answer in RSVPS else ""
