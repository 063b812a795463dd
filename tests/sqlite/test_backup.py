import sqlite3
from contextlib import closing

import pytest

from vernier.sqlite.backup import copy_database


def count(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT count(*) FROM entry").fetchone()[0]


def test_copy__has_what_is_still_in_the_log(database, database_path, tmp_path):
    database.execute("INSERT INTO entry (body) VALUES (x'00')")
    copy_database(database_path, tmp_path / "copy.db")
    assert count(tmp_path / "copy.db") == 1
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600


def test_copy__keeps_the_page_size(database, database_path, tmp_path):
    copy_database(database_path, tmp_path / "copy.db")
    with closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
        assert copy.execute("PRAGMA page_size").fetchone() == (16384,)


def test_copy__overwrites_nothing(database, database_path, tmp_path):
    (tmp_path / "copy.db").write_text("mine")
    with pytest.raises(FileExistsError):
        copy_database(database_path, tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_text() == "mine"
    assert list(tmp_path.glob("*.part")) == []
