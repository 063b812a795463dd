"""Connections of urllib3 that go to addresses which were checked, and check certificates against the name.

urllib3 asks `_new_conn` for its socket; its SOCKS support does it the same way. No pool, no proxy and no redirect of
its own has a part in it: those live in layers of urllib3 that are not used.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, cast

from urllib3.connection import HTTPConnection, HTTPSConnection

from vernier.net.sockets import BudgetTLSSocket, open_socket

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vernier.net.addresses import Address
    from vernier.net.budget import Budget
    from vernier.net.sockets import BudgetSocket
    from vernier.net.target import Target


def connection_to(target: Target, addresses: Sequence[Address], *, budget: Budget) -> CheckedConnection:
    """Return a connection that will go to one of the addresses, and to nothing else."""
    connection = _connection(target)
    connection.addresses = addresses
    connection.budget = budget
    return connection


class CheckedConnection(HTTPConnection):
    """Plain HTTP."""

    addresses: Sequence[Address]
    budget: Budget

    def _new_conn(self) -> BudgetSocket:
        return open_socket(self.addresses, self.port, budget=self.budget)


class CheckedTLSConnection(CheckedConnection, HTTPSConnection):
    """HTTPS: server name and certificate are those of the host, not of the address."""

    def connect(self) -> None:
        """Connect, and let the budget hold for what comes through TLS."""
        super().connect()
        cast("BudgetTLSSocket", self.sock).budget = self.budget


def _connection(target: Target) -> CheckedConnection:
    if target.scheme == "http":
        return CheckedConnection(target.host, target.port)
    context = ssl.create_default_context()
    context.sslsocket_class = BudgetTLSSocket
    return CheckedTLSConnection(target.host, target.port, ssl_context=context)
