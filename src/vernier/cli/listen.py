"""The socket that a server listens on."""

from __future__ import annotations

import errno
import logging
import socket
from typing import TYPE_CHECKING

from vernier.site.environment import ADDRESS_FILE
from vernier.site.exceptions import VernierError

if TYPE_CHECKING:
    from pathlib import Path

    from vernier.cli.arguments import Bind

# Connections that wait while the web process starts again.
BACKLOG = 1024

logger = logging.getLogger("vernier.serve")


def listen(bind: Bind) -> socket.socket:
    """Return a listening socket; raise VernierError where the address cannot be had."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            bind.host, bind.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        opened = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise _refusal(bind, error) from error
    except UnicodeError as error:
        raise VernierError(f"{bind.host!r} is no name of a host; choose another with --bind.") from error
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen(BACKLOG)
    except OSError as error:
        opened.close()
        raise _refusal(bind, error) from error
    return opened


def local_address(opened: socket.socket) -> tuple[str, int]:
    """Return a host and port under which this machine reaches the socket."""
    host, port = opened.getsockname()[:2]
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port  # noqa: S104 - a comparison


def url_of(opened: socket.socket) -> str:
    host, port = local_address(opened)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def announce(opened: socket.socket, directory: Path) -> None:
    """Leave the address for the commands beside the server; it stands in for a base URL that is not set."""
    part = directory / f"{ADDRESS_FILE}.part"
    try:
        part.write_text(url_of(opened) + "\n", encoding="ascii")
        part.replace(directory / ADDRESS_FILE)
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        # A server on a full disk still has images to serve.
        logger.warning("The disk is full: images are served, uploads are refused.", extra={"event": "disk_full"})


def _refusal(bind: Bind, error: OSError) -> VernierError:
    where = f"[{bind.host}]:{bind.port}" if ":" in bind.host else f"{bind.host}:{bind.port}"
    if error.errno == errno.EADDRINUSE:
        return VernierError(f"The address {where} is in use by another program; choose another with --bind.")
    return VernierError(f"The address {where} cannot be listened on: {error.strerror or error}.")
