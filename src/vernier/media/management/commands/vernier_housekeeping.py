"""`manage.py vernier_housekeeping`, for projects that use this app without the command `vernier`."""

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from vernier.media.housekeeping import run_housekeeping


class Command(BaseCommand):
    help = "Enqueues lost work again, removes left-over files and repairs lost ones, until it gets SIGTERM or SIGINT."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--force",
            action="store_true",
            help="go on where so much is wrong that it stops and asks; with every disk mounted, that is",
        )

    def handle(self, **options: Any) -> None:  # noqa: ANN401 - Django's signature
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        run_housekeeping(stop, is_forced=options["force"])
