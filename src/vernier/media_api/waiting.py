"""Hold a request until something happens, and no thread with it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from asgiref.sync import sync_to_async

if TYPE_CHECKING:
    from collections.abc import Callable

POLL_SECONDS = 0.2
# Each held request keeps a connection open, to its client and perhaps to the database. Beyond these, a request is
# answered at once, as if it had not asked to wait.
HELD_MAX = 100

_held = asyncio.Semaphore(HELD_MAX)


async def wait_for[T](look: Callable[[], T], *, until: Callable[[T], bool], seconds: float) -> T:
    """Return what `look` finds as soon as that satisfies `until`, or after `seconds` what it found last."""
    look_in_thread = sync_to_async(look)
    found = await look_in_thread()
    if until(found) or seconds <= 0 or _held.locked():
        return found
    clock = asyncio.get_running_loop().time
    end = clock() + seconds
    async with _held:
        while not until(found) and (left := end - clock()) > 0:
            await asyncio.sleep(min(POLL_SECONDS, left))
            found = await look_in_thread()
    return found
