"""What a redirect asks for: the next request, or none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from vernier.net.exceptions import FetchRefused
from vernier.net.target import Target, parse_target

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from urllib3 import HTTPHeaderDict

REDIRECTS = frozenset({301, 302, 303, 307, 308})
# RFC 9110, section 15.4: 303 says GET; after 301 and 302 everybody turns POST into GET.
TO_GET = {301: {"POST"}, 302: {"POST"}, 303: {"POST", "PUT", "PATCH", "DELETE"}}
# What a caller meant for one origin only.
SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})
BODY_HEADERS = frozenset({"content-type", "content-length", "content-encoding"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request of a fetch. Names of headers are in lower case."""

    target: Target
    method: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


def following(request: Request, status: int, headers: HTTPHeaderDict, *, ports: Collection[int]) -> Request | None:
    """Return the request that an answer redirects to; None if it does not. Raise FetchRefused like the first one."""
    location = headers.get("location")
    if status not in REDIRECTS or not location:
        return None
    target = parse_target(_absolute(request.target.url, location), ports=ports)
    dropped = frozenset() if target.origin == request.target.origin else SECRET_HEADERS
    method, body = request.method, request.body
    if method in TO_GET.get(status, ()):
        method, body, dropped = "GET", None, dropped | BODY_HEADERS
    kept = {name: value for name, value in request.headers.items() if name not in dropped}
    return Request(target=target, method=method, headers=kept, body=body)


def _absolute(base: str, location: str) -> str:
    try:
        return urljoin(base, _as_utf8(location))
    except ValueError as error:
        raise FetchRefused(f"{base} redirects to {location!r}, which is not a URL: {error}.") from error


def _as_utf8(location: str) -> str:
    """Return the header with bytes beyond ASCII read as servers mean them: they arrive read as Latin-1."""
    try:
        return location.encode("latin-1").decode()
    except UnicodeError:
        return location
