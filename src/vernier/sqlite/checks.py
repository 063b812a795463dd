"""System checks: every setting of `options` is in force on the connections of this process."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004 - Django's name
from django.db import connections

from vernier.sqlite.options import PAGE_BYTES, TRANSACTION_MODE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.apps.config import AppConfig
    from django.db.backends.base.base import BaseDatabaseWrapper

E_JOURNAL = "vernier_sqlite.E001"
E_PAGE_SIZE = "vernier_sqlite.E002"
E_SYNCHRONOUS = "vernier_sqlite.E003"
E_TRANSACTION_MODE = "vernier_sqlite.E004"
E_AUTOCHECKPOINT = "vernier_sqlite.E005"
E_TIMEOUT = "vernier_sqlite.E006"
W_LIBRARY = "vernier_sqlite.W001"

# Below this, a writer behind a few others gives up although all goes well.
TIMEOUT_SECONDS_MIN = 5
# Of `PRAGMA synchronous`: 2 is FULL, 3 is EXTRA.
_SYNCHRONOUS_MIN = 2
_HINT = 'Give the database "OPTIONS": vernier.sqlite.options.sqlite_options().'


@register(Tags.database)
def check_sqlite(
    app_configs: Sequence[AppConfig] | None,  # noqa: ARG001 - Django's signature
    databases: Sequence[str] | None = None,
    **kwargs: Any,  # noqa: ANN401, ARG001 - Django's signature
) -> list[CheckMessage]:
    """Return what is wrong with the SQLite databases that are asked about."""
    found: list[CheckMessage] = []
    for alias in databases or ():
        connection = connections[alias]
        if connection.vendor == "sqlite" and not connection.is_in_memory_db():  # type: ignore[attr-defined]
            found += [*_check_connection(connection), *check_library(sqlite3.sqlite_version_info)]
    return found


def check_library(version: tuple[int, ...]) -> Iterator[CheckMessage]:
    """Warn of a version in which concurrent checkpoints can corrupt a database (fixed in 3.51.3, 3.50.7, 3.44.6)."""
    fixed = version >= (3, 51, 3) or (3, 50, 7) <= version < (3, 51) or (3, 44, 6) <= version < (3, 45)
    if version < (3, 7) or fixed:
        return
    yield Warning(
        f"SQLite {'.'.join(map(str, version))} can corrupt a database in which two connections checkpoint at once.",
        hint=(
            "Vernier avoids that: automatic checkpoints are off and one process checkpoints. Let no other program "
            "write to the database. SQLite 3.51.3, 3.50.7 and 3.44.6 have the correction."
        ),
        id=W_LIBRARY,
    )


def _check_connection(connection: BaseDatabaseWrapper) -> Iterator[CheckMessage]:
    def pragma(name: str) -> Any:  # noqa: ANN401 - SQLite's types
        with connection.cursor() as cursor:
            return cursor.execute(f"PRAGMA {name}").fetchone()[0]

    journal, page, synchronous = pragma("journal_mode"), pragma("page_size"), pragma("synchronous")
    autocheckpoint, timeout = pragma("wal_autocheckpoint"), pragma("busy_timeout")
    mode = connection.transaction_mode  # type: ignore[attr-defined]
    if journal != "wal":
        yield _wrong("The journal mode", journal, "wal", E_JOURNAL)
    if page != PAGE_BYTES:
        yield _wrong("The page size", page, f"{PAGE_BYTES}, set before the first table is made", E_PAGE_SIZE)
    if synchronous < _SYNCHRONOUS_MIN:
        yield _wrong("The pragma synchronous", synchronous, "2 (FULL)", E_SYNCHRONOUS)
    if mode != TRANSACTION_MODE:
        yield _wrong("The transaction mode", mode, TRANSACTION_MODE, E_TRANSACTION_MODE)
    if autocheckpoint:
        yield _wrong("The pragma wal_autocheckpoint", autocheckpoint, "0", E_AUTOCHECKPOINT)
    if timeout < TIMEOUT_SECONDS_MIN * 1000:
        yield _wrong("The timeout", f"{timeout} ms", f"at least {TIMEOUT_SECONDS_MIN} s", E_TIMEOUT)


def _wrong(setting: str, received: object, valid: str, check_id: str) -> CheckMessage:
    return Error(f"{setting} of the SQLite database is {received}; valid is {valid}.", hint=_HINT, id=check_id)
