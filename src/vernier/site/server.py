"""The web server: uvicorn on a socket that the supervisor has bound, with limits that uvicorn leaves to others."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

from uvicorn import Config, Server
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio
    import socket

# A request's headers must have arrived by then; a poor mobile connection needs one or two seconds.
HEADER_SECONDS = 10
# Browsers send 8 kB at most and other servers take no more than that; the parser itself has no limit.
HEADER_BYTES_MAX = 64 * 1024
# An idle connection is kept for the next request of a page.
KEEP_ALIVE_SECONDS = 5


def run_server(sock: socket.socket, *, application: str, graceful_seconds: float) -> None:
    """Serve the ASGI `application` (a dotted path) on a bound, listening socket until SIGTERM or SIGINT.

    Then it stops accepting, gives requests `graceful_seconds` to end, cancels the others and returns.
    """
    config = Config(
        application,
        http=LimitedProtocol,
        loop="uvloop",
        ws="none",
        lifespan="off",
        # Logging is Django's.
        log_config=None,
        access_log=False,
        server_header=False,
        # Anybody can send these headers; what is only for this machine refuses requests that have them.
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=graceful_seconds,  # type: ignore[arg-type] # asyncio.wait_for() takes it
    )
    # When it has stopped, uvicorn raises the signal again for whoever handled it before. The default handler would
    # end the process on the spot, with clean-up still waiting in threads.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    Server(config).run([sock])


class LimitedProtocol(HttpToolsProtocol):
    """Closes connections that do not send complete request headers in time, or without end."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - uvicorn's own signature
        super().__init__(*args, **kwargs)
        self._header_timer: asyncio.TimerHandle | None = None
        self._header_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.parser is None or self.transport.is_closing() or not self._awaits_headers():
            return
        self._start_timer()
        self._header_bytes += len(data)
        if self._header_bytes > HEADER_BYTES_MAX:
            self._refuse(b"431 Request Header Fields Too Large", "The request headers are too long.")

    def on_headers_complete(self) -> None:
        self._stop_timer()
        self._header_bytes = 0
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        self._refuse(b"400 Bad Request", msg)

    def _awaits_headers(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _start_timer(self) -> None:
        if self._header_timer is None:
            self._header_timer = self.loop.call_later(HEADER_SECONDS, self._close_if_silent)

    def _stop_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _close_if_silent(self) -> None:
        self._header_timer = None
        if self._awaits_headers():
            self.transport.close()

    def _refuse(self, status: bytes, description: str) -> None:
        """Answer what is no request (RFC 9112 section 3) in JSON, as every other error, and close."""
        content = f'{{"error": "invalid_request", "error_description": "{description}"}}'.encode()
        head = b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
        self.transport.write(head % (status, len(content)) + content)
        self.transport.close()
