"""Which addresses are public. Pure functions; nothing here asks the network."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

type Address = IPv4Address | IPv6Address

# `is_global` of the standard library answers whether a registry calls a range global, and is true of multicast, of
# NAT64, of the deprecated site-local range and of more that leads back into a network. Hence lists of our own.
NOT_PUBLIC_IPV4 = (
    IPv4Network("192.0.0.0/24"),  # protocol assignments, a few of which are registered as global
    IPv4Network("192.88.99.0/24"),  # relays of 6to4
)
# Unicast on the Internet is handed out from this range alone. What lies outside: loopback, private and link-local
# addresses, multicast, and the forms that carry an IPv4 address (mapped, compatible, NAT64 by either prefix).
PUBLIC_IPV6 = IPv6Network("2000::/3")
NOT_PUBLIC_IPV6 = (
    IPv6Network("2001::/23"),  # protocol assignments: Teredo, benchmarking, ORCHID
    IPv6Network("2001:db8::/32"),  # documentation
    IPv6Network("2002::/16"),  # 6to4, which carries an IPv4 address
    IPv6Network("3fff::/20"),  # documentation
)
# Resolvers read 127.1, 017700000001 and 0x7f.1 as addresses: a last label that is a number makes the host one.
ENDS_IN_NUMBER = re.compile(r"(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$", re.IGNORECASE)


def is_public(address: Address) -> bool:
    """Return whether the address belongs to one host on the Internet, and not to this machine or a local network."""
    if isinstance(address, IPv4Address):
        return _is_public_ipv4(address)
    return address in PUBLIC_IPV6 and address.is_global and not any(address in net for net in NOT_PUBLIC_IPV6)


def is_local_name(host: str) -> bool:
    """Return whether the name means this machine whatever a resolver says (RFC 6761, section 6.3)."""
    return host == "localhost" or host.endswith(".localhost")


def literal_address(host: str) -> Address | None:
    """Return the address that the host of a URL is, without brackets; None for a name.

    Raise ValueError for what only some software reads as an address: 127.1, octal, hexadecimal or one whole number.
    """
    if ":" in host:
        return IPv6Address(host)
    if ENDS_IN_NUMBER.search(host):
        return IPv4Address(host)
    return None


def _is_public_ipv4(address: IPv4Address) -> bool:
    if address.is_multicast or address.is_reserved:
        return False
    return address.is_global and not any(address in net for net in NOT_PUBLIC_IPV4)
