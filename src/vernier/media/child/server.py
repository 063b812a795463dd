"""Fork one child for each image, with the codecs already loaded: `python -m vernier.media.child.server FD`.

FD is a socket to the worker that started this process. For each job two sockets arrive on it: one on which the child
answers, and one on which this process tells the child's exit code; the worker closes the latter to have the child
killed. It is not the fork server of `multiprocessing`, because that one imports the worker's main module, and with it
Django, anew in each child, hands the worker's environment on, and unpickles.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import traceback
from dataclasses import dataclass
from typing import NoReturn

from vernier.media.child import limits
from vernier.media.child.answer import answer_all
from vernier.media.child.protocol import EXIT_CODE, FORK_REFUSED


@dataclass(frozen=True, slots=True, kw_only=True)
class _Child:
    """A running child: a handle on its process, and the socket on which the worker waits for its end."""

    pid: int
    handle: int
    link: socket.socket


def main() -> None:
    limits.settle()
    serve(socket.socket(fileno=int(sys.argv[1])))


def serve(control: socket.socket) -> None:
    """Start a child for each request, until the worker is gone; the kernel then kills the children as well."""
    children: dict[int, _Child] = {}
    watched = select.poll()
    watched.register(control, select.POLLIN)
    while True:
        for fd, _ in watched.poll():
            if fd != control.fileno():
                _attend(fd, children, watched)
                continue
            _, fds, _, _ = socket.recv_fds(control, 1, 2)
            if not fds:
                return
            _start(fds[0], socket.socket(fileno=fds[1]), children, watched)


def _start(channel: int, link: socket.socket, children: dict[int, _Child], watched: select.poll) -> None:
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError:
        _tell(link, FORK_REFUSED)
        os.close(channel)
        return
    if pid == 0:
        _run_child(channel, parent)
    os.close(channel)
    child = _Child(pid=pid, handle=os.pidfd_open(pid), link=link)
    for fd in (child.handle, link.fileno()):
        children[fd] = child
        watched.register(fd, select.POLLIN)


def _run_child(channel: int, parent: int) -> NoReturn:
    """Do the job and end this process, whatever happens."""
    code = 1
    try:
        limits.die_with(parent)
        os.closerange(3, channel)
        os.closerange(channel + 1, os.sysconf("SC_OPEN_MAX"))
        answer_all(socket.socket(fileno=channel))
        code = 0
    except BaseException:  # noqa: BLE001 - nothing may return into the loop of the parent
        traceback.print_exc()
    finally:
        os._exit(code)


def _attend(fd: int, children: dict[int, _Child], watched: select.poll) -> None:
    """Kill the child that the worker has given up, or report the one that has ended."""
    child = children.get(fd)
    if child is None:
        # Its other descriptor was handled in the same round.
        return
    if fd != child.handle:
        signal.pidfd_send_signal(child.handle, signal.SIGKILL)
        watched.unregister(fd)
        return
    _, status = os.waitpid(child.pid, 0)
    _forget(child, children, watched)
    _tell(child.link, os.waitstatus_to_exitcode(status))


def _forget(child: _Child, children: dict[int, _Child], watched: select.poll) -> None:
    for fd in (child.handle, child.link.fileno()):
        del children[fd]
        try:
            watched.unregister(fd)
        except KeyError:
            # The worker asked for the kill: this one is no longer watched.
            continue
    os.close(child.handle)


def _tell(link: socket.socket, code: int) -> None:
    with link:
        try:
            link.send(EXIT_CODE.pack(code))
        except OSError:
            # The worker did not wait for it.
            return


if __name__ == "__main__":
    main()
