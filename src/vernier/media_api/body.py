"""The body of a request as it arrives over ASGI: in batches, and with an end to every wait."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from asgiref.typing import HTTPDisconnectEvent, HTTPRequestEvent

from vernier.media_api.errors import ApiError

if TYPE_CHECKING:
    from asgiref.typing import ASGIReceiveCallable, ASGIReceiveEvent

    from vernier.media_api.conf import MediaApiSettings

# The first batch is small: headers and signature are in it, and a refusal need not wait for more.
FIRST_BATCH_BYTES = 1024
# Then as much as goes to a thread at a time: 16 hand-overs for 4 MiB, and little memory for each connection.
BATCH_BYTES = 256 * 1024
# A client that is refused sends on for a moment. What it sends is read up to here: closing a socket that holds
# unread bytes resets the connection, and a reset can destroy the answer before the client has read it.
LINGER_BYTES = 512 * 1024
LINGER_SECONDS = 2


class ClientGone(Exception):  # noqa: N818 - it names what happened
    """The client closed the connection before it had sent the whole body."""


class Body:
    """The body of one request. Nothing is read, and no `100 Continue` sent, before the first call."""

    def __init__(self, receive: ASGIReceiveCallable, conf: MediaApiSettings) -> None:
        self._receive = receive
        self._conf = conf
        self._started_at = asyncio.get_running_loop().time()
        self._waited_seconds = 0.0
        self._received_bytes = 0
        self.is_complete = False

    async def next_batch(self) -> bytes:
        """Return the next bytes, none at the end; raise ClientGone, or ApiError 408 for a client too slow."""
        wanted = BATCH_BYTES if self._received_bytes >= FIRST_BATCH_BYTES else FIRST_BATCH_BYTES
        chunks: list[bytes] = []
        size = 0
        while not self.is_complete and size < wanted:
            chunk = await self._next_in_time()
            chunks.append(chunk)
            size += len(chunk)
        return b"".join(chunks)

    async def linger(self) -> None:
        """Read and drop what a refused client still sends, for a moment."""
        end = self._received_bytes + LINGER_BYTES
        try:
            async with asyncio.timeout(LINGER_SECONDS):
                while not self.is_complete and self._received_bytes < end:
                    await self._next()
        except (TimeoutError, ClientGone):
            return

    async def _next_in_time(self) -> bytes:
        """Wait for the client as long as its rate allows; the time that this server takes is not counted."""
        clock = asyncio.get_running_loop().time
        waits_from = clock()
        try:
            async with asyncio.timeout(self._patience_seconds(waits_from)):
                return await self._next()
        except TimeoutError as error:
            raise ApiError(408, "timeout", "The body arrives too slowly, or takes too long.") from error
        finally:
            self._waited_seconds += clock() - waits_from

    def _patience_seconds(self, now: float) -> float:
        """Every second beyond the grace must have been paid with bytes."""
        conf = self._conf
        earned = conf.body_grace_seconds + self._received_bytes / conf.body_rate_min_bytes
        left = conf.body_total_seconds - (now - self._started_at)
        return max(0.0, min(earned - self._waited_seconds, left))

    async def _next(self) -> bytes:
        message = await self._receive()
        if message["type"] != "http.request":
            raise ClientGone
        chunk = message.get("body", b"")
        self._received_bytes += len(chunk)
        self.is_complete = not message.get("more_body", False)
        return chunk


def replay(content: bytes, receive: ASGIReceiveCallable) -> ASGIReceiveCallable:
    """Return a `receive` that gives this body in one piece, and then waits for the client to go."""
    pieces = [content]

    async def replayed() -> ASGIReceiveEvent:
        if pieces:
            return HTTPRequestEvent(type="http.request", body=pieces.pop(), more_body=False)
        while True:
            event = await receive()
            if event["type"] == "http.disconnect":
                return HTTPDisconnectEvent(type="http.disconnect")

    return replayed
