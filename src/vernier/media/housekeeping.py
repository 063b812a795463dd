"""Housekeeping: the chores that keep rows, jobs and files in agreement, in small steps beside a running server."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import OperationalError, connections

from vernier.media.conf import media_settings
from vernier.media.exceptions import HandedBack
from vernier.media.pace import AuditTicks, OriginalsTicks, SweepTicks
from vernier.media.reconcile import Reconciled, reconcile

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable

logger = logging.getLogger("vernier.media")

# How often it is asked what is due; no chore comes more often.
TICK_SECONDS = 1.0
# One bounded step each time: an archive of 100,000 files is through in some hours, for a thousandth of a core.
SWEEP_SECONDS = 30.0
AUDIT_SECONDS = 30.0


@dataclass(slots=True, kw_only=True)
class Chore:
    """What is to be done how often; at first at once."""

    name: str
    every_seconds: float
    do: Callable[[], object]
    due_at: float = 0.0


def run_housekeeping(stop: threading.Event, *, is_forced: bool = False) -> None:
    """Do the chores of this app until `stop` is set, past the brake where that is wanted.

    Any number of processes may do so at once.
    """
    chores = media_chores(stop, is_forced=is_forced)
    while not stop.is_set():
        do_due(chores, stop)
        stop.wait(TICK_SECONDS)


def media_chores(
    stop: threading.Event,
    *,
    is_forced: bool = False,
    on_reconciled: Callable[[Reconciled], object] = lambda _: None,
) -> tuple[Chore, ...]:
    """Return the chores of this app; a repair in progress is broken off when `stop` is set."""

    def require_running() -> None:
        """Raise HandedBack where this process is to end: a repair may take longer than it has."""
        if stop.is_set():
            raise HandedBack

    reconcile_seconds = media_settings().reconcile_seconds
    audit = AuditTicks(is_forced=is_forced, on_tick=require_running)
    return (
        Chore(name="reconcile", every_seconds=reconcile_seconds, do=lambda: on_reconciled(reconcile())),
        Chore(name="sweep", every_seconds=SWEEP_SECONDS, do=SweepTicks(is_forced=is_forced).tick),
        Chore(name="audit", every_seconds=AUDIT_SECONDS, do=audit.tick),
        Chore(name="originals", every_seconds=AUDIT_SECONDS, do=OriginalsTicks().tick),
    )


def do_due(chores: Iterable[Chore], stop: threading.Event) -> None:
    """Do what is due, one after another, and leave no database connection open."""
    for chore in chores:
        now = time.monotonic()
        if now < chore.due_at or stop.is_set():
            continue
        chore.due_at = now + chore.every_seconds
        _do(chore)
    connections.close_all()


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
