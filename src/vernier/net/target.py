"""From the text of a URL to what is connected to: parsed once, so that check and connection mean the same host."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, quote, urlsplit

from vernier.net.addresses import literal_address
from vernier.net.exceptions import FetchRefused

if TYPE_CHECKING:
    from collections.abc import Collection

DEFAULT_PORTS = {"http": 80, "https": 443}
# Far beyond what people publish (browsers and caches cut at about 2000), far below what costs memory.
URL_CHARACTERS_MAX = 8192
# Parsers disagree about these: some drop a tab or a line break, and some read a backslash as a slash.
DISPUTED = re.compile(r"[\x00-\x1f\x7f\\]")
# RFC 1123, and the underscore, which names in use have.
HOST_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
# The codec of the standard library makes another name of these than registries do (IDNA 2003 and 2008).
DEVIATIONS = re.compile("[ßς\u200c\u200d]", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A URL that may be fetched if its addresses may. `host` is ASCII, in lower case and without brackets."""

    url: str
    scheme: str
    host: str
    port: int
    # Path and query as they are sent.
    path: str

    @property
    def origin(self) -> tuple[str, str, int]:
        """Return what two URLs must share for a secret of one to be meant for the other."""
        return self.scheme, self.host, self.port


def parse_target(url: str, *, ports: Collection[int]) -> Target:
    """Return the parts of the URL; raise FetchRefused if it is not one that is fetched."""
    parts = _split(url)
    if parts.scheme not in DEFAULT_PORTS:
        raise FetchRefused(f"{url} has the scheme {parts.scheme!r}; valid are http and https.")
    if "@" in parts.netloc:
        raise FetchRefused(f"The URL for {parts.hostname} has a user name or password in it, which is not allowed.")
    return Target(url=url, scheme=parts.scheme, host=_host(parts), port=_port(parts, ports=ports), path=_path(parts))


def _split(url: str) -> SplitResult:
    if len(url) > URL_CHARACTERS_MAX:
        raise FetchRefused(f"The URL has {len(url)} characters; at most {URL_CHARACTERS_MAX} are valid.")
    if DISPUTED.search(url):
        raise FetchRefused(f"The URL {url!r} has a control character or a backslash in it.")
    try:
        return urlsplit(url)
    except ValueError as error:
        raise FetchRefused(f"{url} is not a URL: {error}.") from error


def _host(parts: SplitResult) -> str:
    host = _ascii(parts.hostname or "")
    if host.endswith("."):
        raise FetchRefused(f"The host name {host} ends with a dot, which is not allowed.")
    try:
        address = literal_address(host)
    except ValueError as error:
        raise FetchRefused(
            f"{host} is not an address in its usual form, such as 192.0.2.1 or 2001:db8::1."
        ) from error
    if address is not None:
        return _without_zone(str(address))
    if not HOST_NAME.fullmatch(host):
        raise FetchRefused(f"{host!r} is not a host name.")
    return host


def _ascii(host: str) -> str:
    if host.isascii():
        return host.lower()
    if DEVIATIONS.search(host):
        raise FetchRefused(f"The host name {host} does not mean the same to all software; give its form with xn--.")
    try:
        return host.encode("idna").decode("ascii").lower()
    except UnicodeError as error:
        raise FetchRefused(f"{host} is not a host name: {error}.") from error


def _without_zone(address: str) -> str:
    if "%" in address:
        raise FetchRefused(f"The address {address} names a network interface, which is not allowed.")
    return address


def _port(parts: SplitResult, *, ports: Collection[int]) -> int:
    try:
        port = DEFAULT_PORTS[parts.scheme] if parts.port is None else parts.port
    except ValueError as error:
        raise FetchRefused(f"{parts.netloc} has no valid port: {error}.") from error
    if port not in ports:
        raise FetchRefused(f"Port {port} of {parts.hostname} is not allowed; allowed are {sorted(ports)}.")
    return port


def _path(parts: SplitResult) -> str:
    text = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return quote(text, safe=string.punctuation)
