"""What a client may be allowed to do, in the words of the consent page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vernier.authors.models import SCOPES

if TYPE_CHECKING:
    from collections.abc import Collection

SENTENCES = {
    "create": "Publish posts in your name, and upload photos.",
    "update": "Change your posts and replace photos.",
    "delete": "Delete your posts and photos.",
    "undelete": "Bring deleted posts back.",
    "media": "Upload and replace photos.",
    "draft": "Save drafts: whatever it posts stays unpublished.",
    "profile": "See your name, your photo and your address.",
    "email": "See your e-mail address.",
}
# Older clients ask for the one scope that there was before Micropub had several.
LEGACY = {"post": "create"}
# No client asks for so many; each is a line on a page.
SCOPES_MAX = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Requested:
    """The scopes of a request: those that can be granted, and those that mean nothing here."""

    known: tuple[str, ...]
    unknown: tuple[str, ...]


def parse_scope(text: str) -> Requested:
    """Return what a scope parameter asks for, each once, in its order (RFC 6749 section 3.3)."""
    names = list(dict.fromkeys(LEGACY.get(name, name) for name in text.split()))[:SCOPES_MAX]
    return Requested(
        known=tuple(name for name in names if name in SCOPES),
        unknown=tuple(name for name in names if name not in SCOPES),
    )


def grantable(ticked: Collection[str], *, offered: Collection[str]) -> str:
    """Return the scope that the author grants; an e-mail address goes with a profile only (IndieAuth section 5.2)."""
    granted = [name for name in offered if name in ticked]
    if "profile" not in granted:
        granted = [name for name in granted if name != "email"]
    return " ".join(granted)
