"""Fetch a URL that somebody else chose, without being led anywhere that is not public, and within limits.

Every such URL goes through here. Nothing is remembered between two calls: caching is up to the caller.
"""

from __future__ import annotations

import ssl
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from typing import TYPE_CHECKING

from urllib3.exceptions import HTTPError

from vernier.net.addresses import is_local_name, is_public, literal_address
from vernier.net.budget import Budget
from vernier.net.conf import net_settings
from vernier.net.connection import connection_to
from vernier.net.exceptions import FetchError, FetchFailed, FetchRefused
from vernier.net.redirects import Request, following
from vernier.net.resolve import resolve, system_resolver
from vernier.net.target import parse_target

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from urllib3 import HTTPHeaderDict, HTTPResponse

    from vernier.net.addresses import Address
    from vernier.net.connection import CheckedConnection
    from vernier.net.resolve import Resolver
    from vernier.net.target import Target

__all__ = ["FetchError", "FetchFailed", "FetchRefused", "Fetched", "Limits", "Streamed", "fetch", "stream"]

MIB = 1024 * 1024
# Status line and headers of one answer; common servers send at most 8 to 32 KiB.
HEADER_BYTES_MAX = 64 * 1024
# What is decoded, and handed on, at a time.
CHUNK_BYTES = 64 * 1024
# Compressed bytes of which nothing comes, and the framing of small chunks, may cost this much of the network for
# each byte of body that is allowed.
WIRE_FACTOR = 2
# One coding, of those that are asked for. A chain of codings multiplies what a bomb costs.
CODINGS = frozenset({"", "identity", "gzip", "x-gzip", "deflate"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one fetch may cost, all redirects together."""

    # Of the clock, from the name look-up to the last byte of the body.
    seconds: float = 5
    # Of the body, decoded.
    bytes_max: int = MIB
    redirects_max: int = 5
    # Those of `VERNIER_NET["PORTS"]` are allowed as well.
    ports: frozenset[int] = frozenset({80, 443})


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """An answer whose body is still to be read; `chunks` raises FetchFailed, and works within the `with` only."""

    url: str
    status: int
    headers: HTTPHeaderDict
    content_type: str
    chunks: Iterator[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A whole answer, of any status. `headers.getlist("Link")` has what stands in several headers of one name."""

    # Where the redirects ended.
    url: str
    status: int
    headers: HTTPHeaderDict
    # In lower case, without parameters; empty if the server did not say.
    content_type: str
    body: bytes


DEFAULT_LIMITS = Limits()


def fetch(  # noqa: PLR0913 - the parts of a request
    url: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    limits: Limits = DEFAULT_LIMITS,
    resolver: Resolver = system_resolver,
) -> Fetched:
    """Return the answer to one request; raise FetchRefused or FetchFailed. A status of 400 or more is an answer."""
    with stream(url, method=method, headers=headers, body=body, limits=limits, resolver=resolver) as answer:
        return Fetched(
            url=answer.url,
            status=answer.status,
            headers=answer.headers,
            content_type=answer.content_type,
            body=b"".join(answer.chunks),
        )


@contextmanager
def stream(  # noqa: PLR0913 - the parts of a request
    url: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    limits: Limits = DEFAULT_LIMITS,
    resolver: Resolver = system_resolver,
) -> Iterator[Streamed]:
    """Give the answer to one request with its body in chunks; raise as `fetch` does.

    The limit of time goes on while the caller deals with a chunk.
    """
    budget = Budget(seconds=limits.seconds)
    ports = limits.ports | set(net_settings().ports)
    request = Request(
        target=parse_target(url, ports=ports), method=method, headers=_request_headers(headers), body=body
    )
    for _ in range(limits.redirects_max + 1):
        addresses = _checked_addresses(request.target, resolver=resolver, budget=budget)
        with (
            closing(connection_to(request.target, addresses, budget=budget)) as connection,
            closing(_exchange(connection, request, budget=budget)) as response,
        ):
            redirect = following(request, response.status, response.headers, ports=ports)
            if redirect is None:
                yield _streamed(response, request.target, limits=limits, budget=budget)
                return
        request = redirect
    raise FetchFailed(f"{url} redirects more than {limits.redirects_max} times.")


def _request_headers(given: Mapping[str, str] | None) -> dict[str, str]:
    about = net_settings().user_agent_url
    headers = {
        "user-agent": f"Vernier (+{about})" if about else "Vernier",
        "accept-encoding": "gzip",
        "connection": "close",
    }
    return headers | {name.lower(): value for name, value in (given or {}).items()}


def _checked_addresses(target: Target, *, resolver: Resolver, budget: Budget) -> list[Address]:
    """Return the addresses of a host. One that is not public refuses them all: such a host is up to something."""
    host = target.host
    is_trusted = host in {name.lower() for name in net_settings().private_hosts}
    if is_local_name(host) and not is_trusted:
        raise FetchRefused(f"The name {host} means this machine, which is not fetched from.")
    literal = literal_address(host)
    addresses = [literal] if literal else resolve(host, resolver=resolver, budget=budget)
    for address in addresses:
        if not (is_trusted or is_public(address)):
            raise FetchRefused(f"The address {address} of {target.url} is not public.")
    return addresses


def _exchange(connection: CheckedConnection, request: Request, *, budget: Budget) -> HTTPResponse:
    """Send the request and return the answer up to its headers."""
    budget.allow("headers", bytes_max=HEADER_BYTES_MAX)
    with _named_failures(request.target, budget):
        connection.request(request.method, request.target.path, request.body, request.headers, preload_content=False)
        return connection.getresponse()


def _streamed(response: HTTPResponse, target: Target, *, limits: Limits, budget: Budget) -> Streamed:
    coding = response.headers.get("content-encoding", "").strip().lower()
    if coding not in CODINGS:
        raise FetchFailed(f"{target.url} is encoded as {coding!r}; valid are gzip and deflate.")
    return Streamed(
        url=target.url,
        status=response.status,
        headers=response.headers,
        content_type=_content_type(response.headers),
        chunks=_chunks(response, target, limits=limits, budget=budget),
    )


def _content_type(headers: HTTPHeaderDict) -> str:
    return next(iter(headers.getlist("content-type")), "").partition(";")[0].strip().lower()


def _chunks(response: HTTPResponse, target: Target, *, limits: Limits, budget: Budget) -> Iterator[bytes]:
    budget.allow("body", bytes_max=WIRE_FACTOR * limits.bytes_max + CHUNK_BYTES)
    count = 0
    with _named_failures(target, budget):
        for chunk in response.stream(CHUNK_BYTES, decode_content=True):
            count += len(chunk)
            if count > limits.bytes_max:
                raise FetchFailed(f"{target.url} is larger than {limits.bytes_max} bytes.")
            yield chunk
            budget.seconds_left()


@contextmanager
def _named_failures(target: Target, budget: Budget) -> Iterator[None]:
    """Turn what goes wrong on the way into FetchFailed with a sentence."""
    try:
        yield
    except ssl.SSLCertVerificationError as error:
        raise FetchFailed(f"The certificate of {target.host} is not valid: {error.verify_message}.") from error
    except TimeoutError as error:
        raise budget.timed_out() from error
    # http.client has a ValueError for some of what a server may send, such as a chunk of negative length.
    except (HTTPError, HTTPException, OSError, ValueError) as error:
        raise FetchFailed(f"{target.host} did not give a proper answer over {target.scheme}: {error}.") from error
