"""Permalinks: where a post is found, now and for ever. All of it within the transaction that writes the post."""

from __future__ import annotations

import secrets
from itertools import chain
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.text import slugify

from vernier.posts.content import plain_text, render
from vernier.posts.kinds import discover_kind
from vernier.posts.models import Permalink, Post

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from vernier.posts.entry import Entry

SLUG_CHARACTERS_MAX = 80
# Words of its text that name a post without a title.
_SLUG_WORDS = 6
# A name that is taken gets a number up to this one, then random digits: whatever many posts are called alike, few
# names are tried.
_NUMBERED_MAX = 9


def give_path(post: Post, entry: Entry, *, now: datetime) -> None:
    """Set the path of a new post: the month of its publication, and a slug that no other post there ever had."""
    at = timezone.localtime(post.published_at or now) if entry.published_at is None else entry.published_at
    post.path = _free_path(f"{at.year:04}/{at.month:02}", wanted_slug(entry), post)


def change_slug(post: Post, slug: str) -> None:
    """Move the post to a path with this slug, in the month where it is; the old path goes on leading to it."""
    month, _, current = post.path.rpartition("/")
    wanted = clean_slug(slug)
    if wanted and wanted != current:
        post.path = _free_path(month, wanted, post)


def wanted_slug(entry: Entry) -> str:
    """Return the slug that the entry asks for, else one made of its title, its first words, or its kind."""
    text = plain_text(render(entry.content)) or entry.summary
    words = [word for word in text.split() if "://" not in word]
    choices = (entry.slug, entry.title, " ".join(words[:_SLUG_WORDS]))
    return next((slug for choice in choices if (slug := clean_slug(choice))), str(discover_kind(entry)))


def clean_slug(text: str) -> str:
    """Return the text as a part of an address, in plain letters, digits and hyphens; empty where none are in it."""
    return slugify(text)[:SLUG_CHARACTERS_MAX].strip("-_")


def _free_path(month: str, slug: str, post: Post) -> str:
    """Return the first path with this slug that is nobody else's."""
    paths = (f"{month}/{candidate}" for candidate in _candidates(slug))
    return next(path for path in paths if not _is_taken(path, post))


def _is_taken(path: str, post: Post) -> bool:
    return Permalink.objects.filter(path=path).exclude(post_id=post.pk).exists()


def _candidates(slug: str) -> Iterator[str]:
    numbered = (f"{slug}-{number}" for number in range(2, _NUMBERED_MAX + 1))
    random = (f"{slug}-{secrets.token_hex(4)}" for _ in iter(int, 1))
    return chain([slug], numbered, random)
