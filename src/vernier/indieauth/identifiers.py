"""The URLs by which clients are known, and at which they wait: IndieAuth section 3.3, RFC 6749 section 3.1.2."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from vernier.indieauth.exceptions import InvalidIdentifier

if TYPE_CHECKING:
    from urllib.parse import SplitResult

# What caches and browsers bear, and what the column holds.
URL_CHARACTERS_MAX = 2048
DEFAULT_PORTS = {"http": 80, "https": 443}
LOOPBACK_ADDRESSES = frozenset({"127.0.0.1", "::1"})
# Schemes that a browser acts on by itself, instead of handing the URL to an app.
ACTIVE_SCHEMES = frozenset(
    {
        "about",
        "blob",
        "chrome",
        "data",
        "file",
        "filesystem",
        "ftp",
        "intent",
        "javascript",
        "vbscript",
        "view-source",
    }
)
# RFC 3986 alone: parsers differ about everything else, above all about a backslash and about line breaks.
_CHARACTERS = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+")
_DOMAIN = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_WEB_URL = re.compile(r"(https?)://([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)
# Browsers read a name whose last label is a number as an IPv4 address, in decimal, octal or hexadecimal.
_NUMBER = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)")


class Origin(NamedTuple):
    """What two URLs of one party share."""

    scheme: str
    host: str
    port: int


def parse_client_id(text: str) -> str:
    """Return the client identifier in its one canonical form; raise InvalidIdentifier."""
    parts = _split_web("client_id", text)
    host = parts.hostname or ""
    if host not in LOOPBACK_ADDRESSES and (not _DOMAIN.fullmatch(host) or _NUMBER.fullmatch(host)):
        raise InvalidIdentifier(f"The client_id {text} is at {host!r}; valid is a domain name, 127.0.0.1 or [::1].")
    if {".", ".."} & {unquote(segment) for segment in parts.path.split("/")}:
        raise InvalidIdentifier(f"The client_id {text} has a “.” or “..” in its path, which is not allowed.")
    return canonical(text)


def parse_redirect_uri(text: str) -> str:
    """Check the address that a client asks to be redirected to, and return it as it is; raise InvalidIdentifier."""
    parts = _split("redirect_uri", text)
    if parts.scheme in DEFAULT_PORTS:
        _check_web("redirect_uri", text, parts)
        return text
    if not parts.scheme or parts.scheme in ACTIVE_SCHEMES:
        raise InvalidIdentifier(f"The redirect_uri {text} has no scheme that an app can have.")
    return text


def canonical(url: str) -> str:
    """Return the URL with scheme and host in lower case and an empty path as “/”; two of them are equal as text.

    Nothing else is touched, and what is no http(s) URL not at all.
    """
    found = _WEB_URL.fullmatch(url)
    if found is None:
        return url
    scheme, authority, rest = found[1].lower(), found[2].lower(), found[3]
    path = rest if rest.startswith("/") else f"/{rest}"
    return f"{scheme}://{authority.removesuffix(f':{DEFAULT_PORTS[scheme]}')}{path}"


def origin(url: str) -> Origin | None:
    """Return the origin of a checked URL, or None for one of another scheme than http and https."""
    parts = urlsplit(url)
    if parts.scheme not in DEFAULT_PORTS:
        return None
    return Origin(parts.scheme, parts.hostname or "", parts.port or DEFAULT_PORTS[parts.scheme])


def is_loopback(url: str) -> bool:
    """Tell whether a checked URL means the machine of whoever opens it."""
    found = origin(url)
    if found is None:
        return False
    return found.host in LOOPBACK_ADDRESSES or found.host == "localhost" or found.host.endswith(".localhost")


def _split_web(name: str, text: str) -> SplitResult:
    parts = _split(name, text)
    if parts.scheme not in DEFAULT_PORTS:
        raise InvalidIdentifier(f"The {name} {text} has the scheme {parts.scheme!r}; valid are https and http.")
    _check_web(name, text, parts)
    return parts


def _split(name: str, text: str) -> SplitResult:
    if len(text) > URL_CHARACTERS_MAX:
        raise InvalidIdentifier(f"The {name} has {len(text)} characters; at most {URL_CHARACTERS_MAX} are valid.")
    if not _CHARACTERS.fullmatch(text):
        raise InvalidIdentifier(f"The {name} {text!r} is not a URL: it has characters that must be encoded.")
    if "#" in text:
        raise InvalidIdentifier(f"The {name} {text} has a fragment, which is not allowed.")
    try:
        return urlsplit(text)
    except ValueError as error:
        raise InvalidIdentifier(f"The {name} {text} is not a URL: {error}.") from error


def _check_web(name: str, text: str, parts: SplitResult) -> None:
    """Check host, port and the absence of a user name; raise InvalidIdentifier."""
    if "@" in parts.netloc:
        raise InvalidIdentifier(f"The {name} {text} has a user name or password in it, which is not allowed.")
    try:
        port = parts.port
    except ValueError as error:
        raise InvalidIdentifier(f"The {name} {text} has no valid port: {error}.") from error
    if not parts.hostname or port == 0 or parts.netloc.endswith(":"):
        raise InvalidIdentifier(f"The {name} {text} has no host, or a port that is not valid.")
