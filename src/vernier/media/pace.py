"""Pace: sweep and audits beside a running server, one bounded step at a tick, with a pause after each round.

Where they are is kept in memory: a server that starts again begins again, and an idle one writes nothing.
"""

from __future__ import annotations

import random
import time
from collections import deque
from typing import TYPE_CHECKING

from django.utils import timezone

from vernier.media.audit import AuditRound
from vernier.media.current import repair_current
from vernier.media.exceptions import HandedBack
from vernier.media.originals import OriginalsRound
from vernier.media.repair import repair_version
from vernier.media.sweep import SweepRound, swept_aliases

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

# A round of the sweep begins this long after the last one began: short beside the shortest grace.
SWEEP_ROUND_SECONDS = 600
# Files hardly ever go missing; an operator who wants to know now asks `vernier doctor`.
AUDIT_ROUND_SECONDS = 3600
# So many renditions are weighed by the brake at a time: repair need not wait for the end of a large archive.
AUDIT_RENDITIONS_MAX = 20_000
# The share of steps that read the files themselves. Chance picks them: a fixed rhythm could always miss the same.
CHECKSUM_SHARE = 0.1


class SweepTicks:
    """The stores one after another, over and over."""

    def __init__(self, *, is_forced: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._is_forced = is_forced
        self._clock = clock
        self._aliases: deque[str] = deque()
        self._round: SweepRound | None = None
        self._next_at = clock()

    def tick(self, now: datetime | None = None) -> None:
        """Take one step; raises OSError where a store is not there, and takes the next store at the next tick."""
        running = self._round or self._begin()
        if running is None:
            return
        self._round = None
        running.step(now or timezone.now())
        self._round = None if running.is_over else running

    def _begin(self) -> SweepRound | None:
        if not self._aliases:
            if self._clock() < self._next_at:
                return None
            self._next_at = self._clock() + SWEEP_ROUND_SECONDS
            self._aliases.extend(swept_aliases())
        return SweepRound(alias=self._aliases.popleft(), is_forced=self._is_forced)


class AuditTicks:
    """The rows from the first to the last, over and over; what is wrong is repaired one Version at a tick."""

    def __init__(
        self,
        *,
        is_forced: bool = False,
        on_tick: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_forced = is_forced
        self._on_tick = on_tick
        self._clock = clock
        self._round: AuditRound | None = None
        self._to_repair: deque[int] = deque()
        self._cursor = 0
        self._next_at = clock()

    def tick(self, now: datetime | None = None) -> None:
        """Take one step; raises OSError where a store is not there, and begins again at the next tick."""
        if self._to_repair:
            self._repair(now or timezone.now())
        elif self._round or self._cursor or self._clock() >= self._next_at:
            self._look()

    def _repair(self, now: datetime) -> None:
        try:
            repair_version(self._to_repair.popleft(), now, on_tick=self._on_tick)
        except HandedBack:
            # This process is to end; the next one finds the damage again.
            self._to_repair.clear()

    def _look(self) -> None:
        if self._round is None:
            if not self._cursor:
                self._next_at = self._clock() + AUDIT_ROUND_SECONDS
            self._round = AuditRound(
                cursor=self._cursor, renditions_max=AUDIT_RENDITIONS_MAX, is_forced=self._is_forced
            )
        running, self._round = self._round, None
        running.step(with_checksum=_is_sample())
        while running.misled:
            repair_current(running.misled.pop())
        if not running.is_over:
            self._round = running
            return
        self._cursor = running.cursor
        self._to_repair.extend(version_id for version_id, _ in running.by_version())


class OriginalsTicks:
    """The kept originals from the first to the last, over and over; what is wrong is reported."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._round: OriginalsRound | None = None
        self._next_at = clock()

    def tick(self) -> None:
        """Take one step; raises OSError where the store is not there, and begins again after the pause."""
        if self._round is None:
            if self._clock() < self._next_at:
                return
            self._next_at = self._clock() + AUDIT_ROUND_SECONDS
        running, self._round = self._round or OriginalsRound(), None
        running.step(with_checksum=_is_sample())
        self._round = None if running.is_over else running


def _is_sample() -> bool:
    return random.random() < CHECKSUM_SHARE  # noqa: S311 - a sample, not a secret
