"""What a client says of itself, cleaned of what no page and no database should get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from vernier.indieauth.exceptions import InvalidIdentifier
from vernier.indieauth.identifiers import DEFAULT_PORTS, URL_CHARACTERS_MAX, canonical, parse_redirect_uri
from vernier.indieauth.models import NAME_CHARACTERS_MAX

if TYPE_CHECKING:
    from collections.abc import Iterable

# Apps list one per platform; a list of thousands is no app.
REDIRECT_URIS_MAX = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """Name, logo and address of a client, and where it may be redirected to; empty for what it does not say."""

    name: str = ""
    logo_url: str = ""
    client_uri: str = ""
    redirect_uris: tuple[str, ...] = ()


def clean_name(text: str) -> str:
    """Return a line of text that can be shown and stored."""
    shown = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(shown.split())[:NAME_CHARACTERS_MAX].strip()


def clean_url(text: str, *, base: str) -> str:
    """Return the absolute http(s) URL, or nothing for what is none."""
    url = _join(base, text) if text else ""
    if len(url) > URL_CHARACTERS_MAX or not url.isascii() or not url.isprintable() or " " in url:
        return ""
    return url if _scheme(url) in DEFAULT_PORTS else ""


def clean_redirect_uris(texts: Iterable[str], *, base: str) -> tuple[str, ...]:
    """Return those that are valid, absolute and in canonical form."""
    found = []
    for text in list(texts)[:REDIRECT_URIS_MAX]:
        try:
            found.append(canonical(parse_redirect_uri(_join(base, text))))
        except InvalidIdentifier:
            continue
    return tuple(dict.fromkeys(found))


def _join(base: str, text: str) -> str:
    try:
        return urljoin(base, text.strip())
    except ValueError:
        return ""


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:
        return ""
