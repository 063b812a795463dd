"""Keep one fork server per process, and have it start a child for a job."""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, suppress

from vernier.media.exceptions import TransientError
from vernier.media.failures import FailureCode

# The module that is run as the fork server.
SERVER = "vernier.media.child.server"

# All that a codec needs of the environment; the secrets of a server are often in there.
_ENVIRONMENT_KEPT = ("PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE")
# SVT-AV1 and libvips write to standard error otherwise; glibc would reserve address space for each thread.
_ENVIRONMENT_ADDED = {"SVT_LOG": "1", "VIPS_WARNING": "0", "MALLOC_ARENA_MAX": "2"}


def start_child() -> tuple[socket.socket, socket.socket]:
    """Return the channel to a new child, and the link that tells its exit code and is shut down to kill it."""
    with ExitStack() as opened:
        try:
            channel, its_channel = (opened.enter_context(end) for end in socket.socketpair())
            link, its_link = (opened.enter_context(end) for end in socket.socketpair())
            _request(its_channel, its_link)
        except OSError as error:
            raise TransientError(FailureCode.OUT_OF_MEMORY, f"no child could be started: {error}") from error
        its_channel.close()
        its_link.close()
        opened.pop_all()
    return channel, link


class _ForkServer:
    """A running fork server; it ends when its control socket is closed, which the kernel does if need be."""

    def __init__(self) -> None:
        self._control, its_control = socket.socketpair()
        self.owner = os.getpid()
        with its_control:
            try:
                self._process = subprocess.Popen(  # noqa: S603 - this very interpreter
                    [sys.executable, "-P", "-m", SERVER, str(its_control.fileno())],
                    env=_environment(),
                    pass_fds=[its_control.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                )
            except OSError:
                self._control.close()
                raise

    def is_usable(self) -> bool:
        """Tell whether it runs and is this process's own: a fork of the worker starts another one."""
        return self.owner == os.getpid() and self._process.poll() is None

    def send(self, channel: socket.socket, link: socket.socket) -> None:
        socket.send_fds(self._control, [b"\0"], [channel.fileno(), link.fileno()])

    def stop(self) -> None:
        self._control.close()
        if self.owner == os.getpid():
            self._process.kill()
            self._process.wait()


_lock = threading.Lock()
_servers: list[_ForkServer] = []


def _request(channel: socket.socket, link: socket.socket) -> None:
    """Send the child's ends of both sockets to the fork server; it is started where there is none any more."""
    with _lock:
        if _servers and _servers[-1].is_usable():
            with suppress(BrokenPipeError, ConnectionResetError):
                return _servers[-1].send(channel, link)
        stop()
        _servers.append(_ForkServer())
        return _servers[-1].send(channel, link)


@atexit.register
def stop() -> None:
    """End the fork server of this process, and with it each child."""
    while _servers:
        _servers.pop().stop()


def _environment() -> dict[str, str]:
    """Return the environment of the fork server, which finds modules wherever this process finds them."""
    kept = {name: os.environ[name] for name in _ENVIRONMENT_KEPT if name in os.environ}
    found_in = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)  # noqa: PTH100 - entries are strings
    return {**kept, **_ENVIRONMENT_ADDED, "PYTHONPATH": found_in}
