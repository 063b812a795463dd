"""Housekeeping: the chores that exactly one process of a site does, whichever has the lock."""

from __future__ import annotations

import logging
import threading
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone

from vernier.authors.forget import forget_expired
from vernier.authors.notices import tell_missed
from vernier.engines.heartbeat import remove_stale_heartbeats
from vernier.engines.ox import prune
from vernier.indieauth.forget import forget_ended
from vernier.mail.reconcile import reconcile_mail
from vernier.media.housekeeping import TICK_SECONDS, Chore, do_due, media_chores
from vernier.posts.write import prune_retry_keys
from vernier.site.data_directory import HOUSEKEEPING_LOCK, RUN
from vernier.site.metrics import record_findings
from vernier.sqlite.checkpoint import Checkpointer
from vernier.sqlite.file_lock import FileLock

if TYPE_CHECKING:
    from vernier.media.reconcile import Reconciled

logger = logging.getLogger("vernier.housekeeping")

PRUNE_SECONDS = 600.0
# Sessions and links that have expired are refused in any case; deleting them only saves room.
FORGET_SECONDS = 24 * 3600.0
# What a job did is of interest while somebody may still be looking into it.
FINISHED_JOBS_KEPT = timedelta(days=1)
# Far beyond the age at which a worker counts as silent.
HEARTBEATS_KEPT_SECONDS = 3600.0
# A chore takes a bounded batch; the process must be out soon all the same.
_JOIN_SECONDS = 2.0


class Housekeeping:
    """A thread that does the chores while this process has the lock, and tries to get the lock while not."""

    def __init__(self, directory: Path) -> None:
        self._lock = FileLock(directory / HOUSEKEEPING_LOCK)
        self._checkpointer = Checkpointer(Path(settings.DATABASES["default"]["NAME"]))
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)
        self._chores = (
            Chore(name="checkpoint", every_seconds=TICK_SECONDS, do=self._checkpointer.tick),
            *media_chores(self._stop, on_reconciled=_record),
            Chore(name="mail", every_seconds=settings.VERNIER_MEDIA["RECONCILE_SECONDS"], do=_reconcile_mail),
            Chore(name="forget", every_seconds=FORGET_SECONDS, do=_forget),
            Chore(name="prune", every_seconds=PRUNE_SECONDS, do=lambda: prune(FINISHED_JOBS_KEPT)),
            Chore(
                name="heartbeats",
                every_seconds=PRUNE_SECONDS,
                do=lambda: remove_stale_heartbeats(directory / RUN, older_than_seconds=HEARTBEATS_KEPT_SECONDS),
            ),
        )

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the running chore, and leave a database file that is complete if nobody else has it open."""
        self._stop.set()
        self._thread.join(_JOIN_SECONDS)

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                if self._has_lock():
                    do_due(self._chores, self._stop)
                self._stop.wait(TICK_SECONDS)
        finally:
            self._checkpointer.close()
            self._lock.release()

    def _has_lock(self) -> bool:
        try:
            return self._lock.try_acquire()
        except OSError as error:
            logger.warning("No housekeeping: %s", error, extra={"event": "housekeeping_refused"})
            return False


def _record(reconciled: Reconciled) -> None:
    """Leave what was found for `/metrics`."""
    record_findings(asdict(reconciled))


def _forget() -> None:
    """Delete what nobody can use any more: sessions, codes, keys."""
    now = timezone.now()
    forget_expired(now)
    forget_ended(now)
    prune_retry_keys(now=now)


def _reconcile_mail() -> None:
    """Mail what no signal has had mailed, and ring what has lost its job."""
    tell_missed()
    reconcile_mail()
