"""Sockets that keep to a budget at every single operation.

A time limit of a socket starts anew with each byte, so a server that sends one byte a second never meets it. Here
each operation gets what is left of the whole time, whichever of headers, TLS or body it serves.
"""

from __future__ import annotations

import socket
import ssl
from typing import TYPE_CHECKING

from vernier.net.exceptions import FetchFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from _typeshed import ReadableBuffer, WriteableBuffer

    from vernier.net.addresses import Address
    from vernier.net.budget import Budget

# Addresses of one name that are tried. Each gets its share of the time, which more of them would make too short.
ADDRESSES_MAX = 4


class BudgetSocket(socket.socket):
    """A TCP socket. `budget` is set by whoever makes it."""

    budget: Budget

    def recv_into(self, buffer: WriteableBuffer, nbytes: int | None = 0, flags: int = 0) -> int:
        """Receive at most what the budget allows."""
        wanted = nbytes or memoryview(buffer).nbytes
        allowed = min(wanted, self.budget.bytes_left())
        self.settimeout(self.budget.seconds_left())
        try:
            count = super().recv_into(buffer, allowed, flags)
        except TimeoutError:
            raise self.budget.timed_out() from None
        self.budget.take(count)
        return count

    def send(self, data: ReadableBuffer, flags: int = 0) -> int:
        """Send while there is time."""
        self.settimeout(self.budget.seconds_left())
        try:
            return super().send(data, flags)
        except TimeoutError:
            raise self.budget.timed_out() from None

    def sendall(self, data: ReadableBuffer, flags: int = 0) -> None:
        """Send all while there is time."""
        self.settimeout(self.budget.seconds_left())
        try:
            super().sendall(data, flags)
        except TimeoutError:
            raise self.budget.timed_out() from None


class BudgetTLSSocket(BudgetSocket, ssl.SSLSocket):
    """The same over TLS; an SSLContext makes it, and `budget` is set after the handshake."""


def open_socket(addresses: Sequence[Address], port: int, *, budget: Budget) -> BudgetSocket:
    """Return a connection to the first address that gives one; raise FetchFailed."""
    tried = addresses[:ADDRESSES_MAX]
    failure: OSError | None = None
    for place, address in enumerate(tried):
        try:
            return _connect(address, port, budget=budget, seconds=budget.seconds_left() / (len(tried) - place))
        except OSError as error:
            failure = error
    raise FetchFailed(f"No connection to {', '.join(map(str, tried))}, port {port}: {failure}.") from failure


def _connect(address: Address, port: int, *, budget: Budget, seconds: float) -> BudgetSocket:
    made = BudgetSocket(socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_STREAM)  # noqa: PLR2004
    made.budget = budget
    try:
        made.settimeout(seconds)
        made.connect((str(address), port))
        # A handshake of TLS takes the limit that it finds, for the whole of it.
        made.settimeout(budget.seconds_left())
    except (OSError, FetchFailed):
        made.close()
        raise
    return made
