"""Housekeeping: the chores that exactly one process of a site does, whichever has the lock."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import OperationalError, connections
from django.utils import timezone

from vernier.authors.forget import forget_expired
from vernier.authors.notices import tell_missed
from vernier.engines.heartbeat import remove_stale_heartbeats
from vernier.engines.ox import prune
from vernier.indieauth.prune import prune as prune_indieauth
from vernier.mail.reconcile import reconcile_mail
from vernier.media.exceptions import HandedBack
from vernier.media.pace import AuditTicks, OriginalsTicks, SweepTicks
from vernier.media.reconcile import reconcile
from vernier.posts.write import prune_retry_keys
from vernier.site.data_directory import RUN
from vernier.site.metrics import record_findings
from vernier.sqlite.checkpoint import Checkpointer
from vernier.sqlite.file_lock import FileLock

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger("vernier.housekeeping")

# The pace of the checkpointer, which looks at the log each time.
TICK_SECONDS = 1.0
PRUNE_SECONDS = 600.0
# One bounded step each time: an archive of 100,000 files is through in some hours, for a thousandth of a core.
SWEEP_SECONDS = 30.0
AUDIT_SECONDS = 30.0
# Sessions and links that have expired are refused in any case; deleting them only saves room.
FORGET_SECONDS = 24 * 3600.0
# What a job did is of interest while somebody may still be looking into it.
FINISHED_JOBS_KEPT = timedelta(days=1)
# Far beyond the age at which a worker counts as silent.
HEARTBEATS_KEPT_SECONDS = 3600.0
# A chore takes a bounded batch; the process must be out soon all the same.
_JOIN_SECONDS = 2.0


@dataclass(slots=True, kw_only=True)
class Chore:
    """What is to be done how often; at first at once."""

    name: str
    every_seconds: float
    do: Callable[[], object]
    due_at: float = 0.0


class Housekeeping:
    """A thread that does the chores while this process has the lock, and tries to get the lock while not."""

    def __init__(self, directory: Path) -> None:
        self._lock = FileLock(directory / "housekeeping.lock")
        self._checkpointer = Checkpointer(Path(settings.DATABASES["default"]["NAME"]))
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)
        self._chores = (
            Chore(name="checkpoint", every_seconds=TICK_SECONDS, do=self._checkpointer.tick),
            Chore(name="reconcile", every_seconds=settings.VERNIER_MEDIA["RECONCILE_SECONDS"], do=_reconcile),
            Chore(name="mail", every_seconds=settings.VERNIER_MEDIA["RECONCILE_SECONDS"], do=_reconcile_mail),
            Chore(name="forget", every_seconds=FORGET_SECONDS, do=_forget),
            Chore(name="sweep", every_seconds=SWEEP_SECONDS, do=SweepTicks().tick),
            Chore(name="audit", every_seconds=AUDIT_SECONDS, do=AuditTicks(on_tick=self._require_running).tick),
            Chore(name="originals", every_seconds=AUDIT_SECONDS, do=OriginalsTicks().tick),
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
                    self._do_what_is_due()
                self._stop.wait(TICK_SECONDS)
        finally:
            self._checkpointer.close()
            self._lock.release()

    def _require_running(self) -> None:
        """Raise HandedBack where this process is to end: a repair may take longer than it has."""
        if self._stop.is_set():
            raise HandedBack

    def _has_lock(self) -> bool:
        try:
            return self._lock.try_acquire()
        except OSError as error:
            logger.warning("No housekeeping: %s", error, extra={"event": "housekeeping_refused"})
            return False

    def _do_what_is_due(self) -> None:
        for chore in self._chores:
            now = time.monotonic()
            if now < chore.due_at or self._stop.is_set():
                continue
            chore.due_at = now + chore.every_seconds
            _do(chore)
        connections.close_all()


def _reconcile() -> None:
    """Reconcile, and leave what was found for `/metrics`."""
    record_findings(asdict(reconcile()))


def _forget() -> None:
    """Delete what nobody can use any more: sessions, codes, keys."""
    now = timezone.now()
    forget_expired(now)
    prune_indieauth(now)
    prune_retry_keys(now=now)


def _reconcile_mail() -> None:
    """Mail what no signal has had mailed, and ring what has lost its job."""
    tell_missed()
    reconcile_mail()


def _do(chore: Chore) -> None:
    """Do it; a chore that fails is reported and comes round again, and the others are done."""
    try:
        chore.do()
    except (OperationalError, OSError) as error:
        # A full disk, or a database that others hold: the reason is all there is to say.
        facts = {"event": "chore_failed", "chore": chore.name}
        logger.error("The chore %s has failed: %s", chore.name, error, extra=facts)  # noqa: TRY400 - no traceback
    except Exception:
        logger.exception("The chore %s has failed.", chore.name, extra={"event": "chore_failed", "chore": chore.name})
