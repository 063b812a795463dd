import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from tests.sqlite.conftest import open_database
from vernier.sqlite.backup import copy_database, find_problems
from vernier.sqlite.write_ahead_log import draw_identity, has_foreign_log, log_of


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


def test_copy__of_no_database_makes_none(tmp_path):
    with pytest.raises(sqlite3.OperationalError):
        copy_database(tmp_path / "none.db", tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []


def test_copy__that_is_refused_leaves_nothing(database, database_path, tmp_path):
    def refuse(copy):
        assert count(copy) == 0
        raise ValueError

    with pytest.raises(ValueError):
        copy_database(database_path, tmp_path / "copy.db", check=refuse)
    assert not list(tmp_path.glob("copy.db*"))


def test_copy__shows_progress_and_can_be_interrupted(database, database_path, tmp_path):
    database.execute(
        "INSERT INTO entry (body) WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<300)"
        " SELECT randomblob(30000) FROM n"
    )
    seen = []
    copy_database(database_path, tmp_path / "copy.db", on_progress=lambda *progress: seen.append(progress))
    assert 0 < seen[-1][0] <= (tmp_path / "copy.db").stat().st_size
    assert seen[-1][1] == pytest.approx((tmp_path / "copy.db").stat().st_size, rel=0.05)

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_database(database_path, tmp_path / "other.db", on_progress=interrupt)
    assert not list(tmp_path.glob("other.db*"))


def test_copy__to_a_file_system_without_links(database, database_path, tmp_path, monkeypatch):
    def link(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    copy_database(database_path, tmp_path / "copy.db")
    assert count(tmp_path / "copy.db") == 0
    with pytest.raises(FileExistsError):
        copy_database(database_path, tmp_path / "copy.db")
    assert list(tmp_path.glob("*.part")) == []


def test_problems__of_a_good_file_and_of_a_damaged_one(database, database_path, tmp_path):
    database.execute("CREATE TABLE part (entry INTEGER REFERENCES entry)")
    database.execute("CREATE INDEX by_body ON entry (body)")
    database.executemany("INSERT INTO entry (body) VALUES (?)", [(bytes([n]) * 40,) for n in range(200)])
    copy = tmp_path / "copy.db"
    copy_database(database_path, copy)
    assert find_problems(copy) == []
    database.execute("INSERT INTO part VALUES (999)")
    copy_database(database_path, tmp_path / "broken.db")
    assert find_problems(tmp_path / "broken.db") == ["row 1 of part refers to a row of entry that is missing"]
    content = bytearray(copy.read_bytes())
    content[-2000:] = bytes(2000)
    copy.write_bytes(content)
    assert find_problems(copy)
    copy.write_bytes(b"no database" * 1000)
    assert find_problems(copy) == ["file is not a database"]


def count_or_damage(path):
    try:
        return count(path)
    except sqlite3.DatabaseError:
        return "damaged"


KILLED = """
import os, sys
from tests.sqlite.conftest import open_database
database = open_database(sys.argv[1])
database.execute("CREATE TABLE IF NOT EXISTS entry (id INTEGER PRIMARY KEY, body BLOB NOT NULL)")
database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
for _ in range(int(sys.argv[2])):
    database.execute("INSERT INTO entry (body) VALUES (randomblob(20000))")
if sys.argv[3]:
    database.execute(f"PRAGMA wal_checkpoint({sys.argv[3]})")
database.execute("UPDATE entry SET body = zeroblob(20000) WHERE id = 1")
os.kill(os.getpid(), 9)
"""


def make_killed(path, number, *, checkpoint=""):
    """Make a database whose only user was killed: what it wrote last is in the log."""
    subprocess.run([sys.executable, "-c", KILLED, path, str(number), checkpoint], check=False)
    assert log_of(path).stat().st_size > 0
    return path


@pytest.mark.parametrize("checkpoint", ["", "PASSIVE", "RESTART", "TRUNCATE"])
def test_log__is_its_own_however_far_it_was_moved(tmp_path, checkpoint):
    path = make_killed(tmp_path / "killed.db", 20, checkpoint=checkpoint)
    assert not has_foreign_log(path)
    assert count(path) == 20


def test_log__of_another_database_would_be_moved_into_this_one(tmp_path, database, database_path):
    """What SQLite does: the salts tie the frames of a log to its head, and nothing ties the log to a database."""
    killed = make_killed(tmp_path / "killed.db", 20)
    database.executemany("INSERT INTO entry (body) VALUES (?)", [(bytes(20000),)] * 50)
    copy_database(database_path, tmp_path / "copy.db")
    assert count(tmp_path / "copy.db") == 50
    shutil.copy(log_of(killed), log_of(tmp_path / "copy.db"))
    assert has_foreign_log(tmp_path / "copy.db")
    assert count_or_damage(tmp_path / "copy.db") in {20, "damaged"}


def test_log__of_the_same_database_at_another_time(tmp_path):
    path = make_killed(tmp_path / "killed.db", 5)
    with closing(open_database(path)) as opened:
        draw_identity(opened)
    older = tmp_path / "older.db"
    shutil.copy(path, older)
    for _ in range(3):
        make_killed(path, 5)
    shutil.copy(log_of(path), log_of(older))
    assert has_foreign_log(older)
    assert not has_foreign_log(path)


def test_log__that_is_none(tmp_path, database, database_path):
    assert not has_foreign_log(tmp_path / "none.db")
    copy_database(database_path, tmp_path / "copy.db")
    assert not has_foreign_log(tmp_path / "copy.db")
    for content in (b"", b"short", bytes(4096)):
        log_of(tmp_path / "copy.db").write_bytes(content)
        assert not has_foreign_log(tmp_path / "copy.db")
        assert count(tmp_path / "copy.db") == 0


def test_log__in_use_is_never_called_foreign(tmp_path, database, database_path):
    """Asked again and again by another process, while this one writes and moves the log."""
    asked = subprocess.Popen(
        [sys.executable, "-c", ASK, database_path], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    assert asked.stdout.readline() == "ready\n"
    for number in range(400):
        database.execute("INSERT INTO entry (body) VALUES (randomblob(3000))")
        if number % 7 == 0:
            database.execute("PRAGMA wal_checkpoint(RESTART)")
    answers, _ = asked.communicate("")
    assert int(answers.split()[0]) > 10
    assert answers.split()[1] == "0"


ASK = """
import pathlib, select, sys
from vernier.sqlite.write_ahead_log import has_foreign_log
print("ready", flush=True)
asked = foreign = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    foreign += has_foreign_log(pathlib.Path(sys.argv[1]))
    asked += 1
print(asked, foreign)
"""
