"""The SQLite settings with which one database file is durable and serves several processes."""

from __future__ import annotations

from typing import Any

# Large values (renditions of some 100 kB) read three times as fast as with SQLite's own 4096 bytes.
PAGE_BYTES = 16384
# How long a writer waits for its turn. Short transactions of several processes never come near it.
TIMEOUT_SECONDS = 20
TRANSACTION_MODE = "IMMEDIATE"


def sqlite_options() -> dict[str, Any]:
    """Return the OPTIONS of a database in Django's DATABASES.

    - page_size comes first: it counts only before the file has its first page.
    - WAL: readers and the one writer do not wait for each other.
    - synchronous FULL: a commit survives a power cut; NORMAL loses some in this mode.
    - wal_autocheckpoint 0: only the one checkpointer checkpoints (see `checkpoint`).
    - IMMEDIATE: a transaction that reads first and then writes waits for its turn instead of failing.
    """
    return {
        "init_command": (
            f"PRAGMA page_size={PAGE_BYTES};"
            "PRAGMA journal_mode=WAL;"
            "PRAGMA synchronous=FULL;"
            "PRAGMA wal_autocheckpoint=0"
        ),
        "transaction_mode": TRANSACTION_MODE,
        "timeout": TIMEOUT_SECONDS,
    }
