"""Who an author is to a client: their identity and their profile (IndieAuth section 5.3.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vernier.authors.profiles import first_author_id, profile_path
from vernier.media_api.links import media_url

if TYPE_CHECKING:
    from collections.abc import Collection

    from vernier.authors.models import Author


def me_url(base: str, author: Author) -> str:
    """Return the author's identity, in the one form in which it is written everywhere."""
    return base + profile_path(author, first_id=first_author_id())


def identity(base: str, author: Author, scopes: Collection[str]) -> dict[str, object]:
    """Return `me`, and `profile` as far as the scopes allow."""
    shown = {"profile": profile(base, author, scopes)} if "profile" in scopes else {}
    return {"me": me_url(base, author), **shown}


def profile(base: str, author: Author, scopes: Collection[str]) -> dict[str, str]:
    """Return what the author shows of themselves; the e-mail address only with its scope."""
    shown = {"name": author.shown_name, "url": me_url(base, author)}
    if author.photo is not None and author.photo.current_id is not None:
        shown["photo"] = media_url(base, author.photo.pk)
    if author.email and "email" in scopes:
        shown["email"] = author.email
    return shown
