"""Who a request comes from, as far as an address tells."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.http import HttpRequest

UNKNOWN = "unknown"
# What proxies add to a request.
PROXY_HEADERS = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP")
# One customer has at least so large a network, and may use a new address of it for every request.
_IPV6_PREFIX = 64


def client_address(request: HttpRequest) -> str:
    """Return the client's IPv4 address, or the network of its IPv6 address.

    Behind a proxy on this machine it is what that has added to X-Forwarded-For, the last part; the other parts, and
    the whole header in a request from elsewhere, may be anybody's invention.
    """
    peer = _parse(request.META.get("REMOTE_ADDR", ""))
    if peer is not None and peer.is_loopback:
        last_hop = request.headers.get("X-Forwarded-For", "").rpartition(",")[2]
        peer = _parse(last_hop.strip()) or peer
    if isinstance(peer, IPv6Address):
        return str(IPv6Network((peer, _IPV6_PREFIX), strict=False))
    return UNKNOWN if peer is None else str(peer)


def is_behind_proxy(request: HttpRequest) -> bool:
    """Tell whether a proxy has left its mark on the request; not all do."""
    return any(name in request.headers for name in PROXY_HEADERS)


def is_from_this_machine(request: HttpRequest) -> bool:
    """Tell whether a program on this machine has sent the request, and for itself."""
    peer = _parse(request.META.get("REMOTE_ADDR", ""))
    return peer is not None and peer.is_loopback and not is_behind_proxy(request)


def _parse(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
