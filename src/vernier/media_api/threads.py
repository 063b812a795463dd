"""The threads in which uploads take turns: files, hashes and the database stay off the event loop."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from django.db import DatabaseError, connection

if TYPE_CHECKING:
    from collections.abc import Callable

# Uploads take turns in these threads, 256 KiB or one transaction at a time. They wait for the disk and for the
# database's one writer, so more of them than this would wait at the same place; a slow client occupies none.
UPLOAD_THREADS = 8

_threads = ThreadPoolExecutor(UPLOAD_THREADS, thread_name_prefix="upload")


async def in_upload_thread[**P, T](call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run the call in one of the threads. A cancelled caller still waits for it: a thread cannot be stopped."""

    def run() -> T:
        try:
            return call(*args, **kwargs)
        except DatabaseError:
            # These few threads keep their connections, which cost more to open than an upload's queries take.
            # One on which something went wrong may be of no use any more.
            connection.close()
            raise

    future = asyncio.get_running_loop().run_in_executor(_threads, run)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait([future])
        raise
