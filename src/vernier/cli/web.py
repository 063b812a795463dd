"""`vernier web`: the web server alone."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from django.conf import settings

from vernier.cli import prepare
from vernier.cli.check_site import check_site
from vernier.cli.children import end_with_parent
from vernier.cli.housekeeping import Housekeeping
from vernier.cli.listen import announce, listen, url_of
from vernier.site.server import run_server

if TYPE_CHECKING:
    import argparse

    from vernier.cli.arguments import Bind

APPLICATION = "vernier.site.asgi:application"
# Requests under way get so long to end; `serve` kills what is left after some seconds more.
GRACEFUL_SECONDS = 4.5


def run(arguments: argparse.Namespace) -> int:
    """Answer requests on the socket that was handed over, or first make one."""
    if arguments.fd is None:
        check_site()
        _start_again_with_socket(arguments.bind)
    with socket.socket(fileno=arguments.fd) as opened:
        if arguments.supervised:
            end_with_parent()
            _answer(opened)
        else:
            _answer_and_keep_house(opened)
    return 0


def _start_again_with_socket(bind: Bind) -> NoReturn:
    """Replace this program by one that has the socket from the start: its settings depend on the address."""
    opened = listen(bind)
    announce(opened, Path(settings.DATA_DIR))
    prepare.close()
    opened.set_inheritable(True)
    command = [sys.executable, "-m", "vernier", "web", "--fd", str(opened.fileno())]
    os.execv(sys.executable, command)  # noqa: S606 - this very interpreter


def _answer_and_keep_house(opened: socket.socket) -> None:
    housekeeping = Housekeeping(Path(settings.DATA_DIR))
    housekeeping.start()
    print(f"Vernier listens at {url_of(opened)}", flush=True)
    try:
        _answer(opened)
    finally:
        housekeeping.stop()


def _answer(opened: socket.socket) -> None:
    run_server(opened, application=APPLICATION, graceful_seconds=GRACEFUL_SECONDS)
