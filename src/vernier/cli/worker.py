"""`vernier worker`: a worker alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from vernier.cli.check_site import check_site
from vernier.cli.children import end_with_parent
from vernier.cli.housekeeping import Housekeeping
from vernier.engines.heartbeat import heartbeat_file
from vernier.engines.ox import drain_until_signal, run_worker
from vernier.mail.reconcile import reconcile_mail
from vernier.media.reconcile import reconcile
from vernier.site.data_directory import RUN

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    directory = Path(settings.DATA_DIR)
    if not arguments.supervised:
        check_site()
    if arguments.drain:
        # Work that has lost its job is due as well.
        reconcile()
        reconcile_mail()
        drain_until_signal()
        return 0
    if arguments.supervised:
        end_with_parent()
        _work(directory)
        return 0
    housekeeping = Housekeeping(directory)
    housekeeping.start()
    try:
        _work(directory)
    finally:
        housekeeping.stop()
    return 0


def _work(directory: Path) -> None:
    run_worker(heartbeat=heartbeat_file(directory / RUN), poll_seconds=settings.JOB_POLL_SECONDS)
