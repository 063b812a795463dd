"""From a name to its addresses, once per connection and within the time of the fetch.

`getaddrinfo` has no time limit and cannot be interrupted, so it runs in a thread that is left behind when the time is
over. The threads are daemons, because those of a pool would be waited for when the process ends; and they are
counted, because a name server that does not answer would otherwise collect them without bound.
"""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING

from vernier.net.exceptions import FetchFailed

if TYPE_CHECKING:
    from vernier.net.addresses import Address
    from vernier.net.budget import Budget

# From a name in ASCII to the texts of its addresses; raises OSError if there are none.
type Resolver = Callable[[str], Sequence[str]]
type Answer = Sequence[str] | OSError

# Look-ups that wait at once in this process: more than its worker threads, and each costs a stack.
LOOKUPS_MAX = 16
_free = threading.BoundedSemaphore(LOOKUPS_MAX)


def system_resolver(host: str) -> list[str]:
    """Return the addresses that the system knows for a name, those to be tried first in front."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def resolve(host: str, *, resolver: Resolver, budget: Budget) -> list[Address]:
    """Return the addresses of a name, at least one; raise FetchFailed."""
    answer = _ask(host, resolver=resolver, budget=budget)
    if isinstance(answer, OSError):
        raise FetchFailed(f"The name {host} was not found: {answer.strerror or answer}.") from answer
    if not answer:
        raise FetchFailed(f"The name {host} has no address.")
    return [ip_address(text) for text in answer]


def _ask(host: str, *, resolver: Resolver, budget: Budget) -> Answer:
    if not _free.acquire(timeout=budget.seconds_left()):
        raise FetchFailed(f"{LOOKUPS_MAX} other names are being looked up, and none has been answered in time.")
    answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
    thread = threading.Thread(target=_look_up, args=(host, resolver, answers), daemon=True, name=f"resolve {host}")
    try:
        thread.start()
    except RuntimeError as error:
        _free.release()
        raise FetchFailed(f"The name {host} was not looked up: {error}.") from error
    try:
        return answers.get(timeout=budget.seconds_left())
    except queue.Empty:
        raise budget.timed_out() from None


def _look_up(host: str, resolver: Resolver, answers: queue.SimpleQueue[Answer]) -> None:
    try:
        answers.put(resolver(host))
    except OSError as error:
        answers.put(error)
    finally:
        _free.release()
