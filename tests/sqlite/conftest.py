import sqlite3
from contextlib import closing

import pytest

from vernier.sqlite.options import sqlite_options


def open_database(path):
    """Open a connection with the options of production."""
    options = sqlite_options()
    connection = sqlite3.connect(path, timeout=options["timeout"], isolation_level=None)
    for command in options["init_command"].split(";"):
        connection.execute(command)
    return connection


@pytest.fixture
def database(tmp_path):
    """Make a database with a table, and keep a connection to it open."""
    with closing(open_database(tmp_path / "vernier.db")) as connection:
        connection.execute("CREATE TABLE entry (id INTEGER PRIMARY KEY, body BLOB NOT NULL)")
        yield connection


@pytest.fixture
def database_path(database, tmp_path):
    return tmp_path / "vernier.db"
