"""Writers of one process take turns; SQLite itself is never asked while one of them writes."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from django.db import DEFAULT_DB_ALIAS, IntegrityError, OperationalError, transaction
from django.db.utils import ConnectionHandler

from vernier.sqlite.options import sqlite_options

THREADS, TRANSACTIONS = 4, 50


@pytest.fixture
def connections(database_path, monkeypatch, django_db_blocker):
    """Connections of this process to the database; SQLite's own waiting is off, the turn is waited for."""
    options = sqlite_options()
    options["init_command"] += ";PRAGMA busy_timeout=0"
    handler = ConnectionHandler(
        {
            DEFAULT_DB_ALIAS: {
                "ENGINE": "vernier.sqlite.backend",
                "NAME": database_path,
                "OPTIONS": options,
            }
        }
    )
    monkeypatch.setattr(transaction, "connections", handler)
    with django_db_blocker.unblock():
        yield handler
        handler.close_all()


@pytest.fixture
def connection(connections):
    return connections[DEFAULT_DB_ALIAS]


def write(connection):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("INSERT INTO entry (body) VALUES (zeroblob(300))")


def rows(path):
    with closing(sqlite3.connect(path)) as other:
        return other.execute("SELECT count(*) FROM entry").fetchone()[0]


def in_a_thread(work):
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(work).result()


def test_writers__of_one_process_wait_for_their_turn(connections, database_path):
    def write_all(_number):
        with closing(connections[DEFAULT_DB_ALIAS]) as own:
            for _ in range(TRANSACTIONS):
                write(own)

    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(write_all, range(THREADS)))
    assert rows(database_path) == THREADS * TRANSACTIONS


def test_writer__whose_turn_does_not_come_is_told_so(connections, connection):
    connection.settings_dict["OPTIONS"]["timeout"] = 0.05

    def write_too():
        with closing(connections[DEFAULT_DB_ALIAS]) as own, pytest.raises(OperationalError, match="another thread"):
            write(own)

    with transaction.atomic():
        in_a_thread(write_too)


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ("raises", ZeroDivisionError),
        ("closes", ZeroDivisionError),
        ("cannot commit", IntegrityError),
        ("cannot begin", OperationalError),
    ],
)
def test_turn__ends_however_the_transaction_ends(how, error, connections, connection, database_path):
    connection.settings_dict["OPTIONS"]["timeout"] = 5
    with closing(sqlite3.connect(database_path, isolation_level=None)) as other, pytest.raises(error):
        if how == "cannot begin":
            other.execute("BEGIN IMMEDIATE")
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("INSERT INTO entry (body) VALUES (zeroblob(1))")
            if how == "closes":
                connection.close()
            if how == "cannot commit":
                cursor.execute("CREATE TABLE child (entry INTEGER REFERENCES entry DEFERRABLE INITIALLY DEFERRED)")
                cursor.execute("INSERT INTO child VALUES (99)")
            else:
                raise ZeroDivisionError("in the middle")

    def write_too():
        with closing(connections[DEFAULT_DB_ALIAS]) as own:
            write(own)

    in_a_thread(write_too)
    assert rows(database_path) == 1


def test_turns__of_two_databases_have_nothing_to_do_with_each_other(connection, tmp_path):
    there = {"ENGINE": "vernier.sqlite.backend", "NAME": tmp_path / "other.db", "OPTIONS": {"timeout": 0}}
    other = ConnectionHandler({DEFAULT_DB_ALIAS: there})[DEFAULT_DB_ALIAS]
    with transaction.atomic(), closing(other):
        other.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
        other.rollback()
        other.set_autocommit(True)
