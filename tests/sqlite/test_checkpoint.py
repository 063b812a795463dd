import sqlite3
import subprocess
from contextlib import closing

import pytest

from tests.sqlite.conftest import open_database
from vernier.sqlite.checkpoint import IDLE_SECONDS, PASSIVE_SECONDS, Checkpointer


class Clock:
    seconds = 1000.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def checkpointer(database_path, clock):
    checkpointer = Checkpointer(database_path, clock=clock)
    yield checkpointer
    checkpointer.close()


def write(database):
    database.execute("INSERT INTO entry (body) VALUES (zeroblob(50000))")


def log_bytes(path):
    return path.with_name("vernier.db-wal").stat().st_size


def count(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT count(*) FROM entry").fetchone()[0]


def test_checkpoint__log_is_emptied_when_writing_stops(checkpointer, database, database_path, clock):
    write(database)
    assert checkpointer.tick() is None
    clock.seconds += IDLE_SECONDS
    assert checkpointer.tick() == "TRUNCATE"
    assert log_bytes(database_path) == 0


def test_checkpoint__an_idle_database_is_left_alone(checkpointer, database, database_path, clock):
    write(database)
    checkpointer.tick()
    clock.seconds += IDLE_SECONDS
    checkpointer.tick()
    before = database_path.stat().st_mtime_ns
    for _ in range(5):
        clock.seconds += PASSIVE_SECONDS
        assert checkpointer.tick() is None
    assert database_path.stat().st_mtime_ns == before


def test_checkpoint__copy_of_an_idle_database_holds_everything(
    checkpointer, database, database_path, clock, tmp_path
):
    for _ in range(7):
        write(database)
    checkpointer.tick()
    clock.seconds += IDLE_SECONDS
    checkpointer.tick()
    # By another process: one that closes the file itself gives up SQLite's locks on it.
    subprocess.run(["cp", database_path, tmp_path / "copy.db"], check=True)
    assert count(tmp_path / "copy.db") == 7


def test_checkpoint__log_is_moved_while_others_write(checkpointer, database, clock):
    modes = []
    for _ in range(int(PASSIVE_SECONDS) + 1):
        write(database)
        modes.append(checkpointer.tick())
        clock.seconds += 1
    assert modes.count("PASSIVE") == 1
    assert "TRUNCATE" not in modes


def test_checkpoint__gives_way_to_a_reader_and_comes_back(checkpointer, database, database_path, clock):
    write(database)
    with closing(open_database(database_path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM entry").fetchone()
        write(database)
        checkpointer.tick()
        clock.seconds += IDLE_SECONDS
        assert checkpointer.tick() is None
    clock.seconds += 1
    assert checkpointer.tick() == "TRUNCATE"


def test_checkpoint__exactly_one(checkpointer, database, database_path, clock):
    checkpointer.tick()
    other = Checkpointer(database_path, clock=clock)
    write(database)
    other.tick()
    clock.seconds += IDLE_SECONDS
    assert other.tick() is None
    assert log_bytes(database_path) > 0
    checkpointer.close()
    write(database)
    other.tick()
    clock.seconds += IDLE_SECONDS
    assert other.tick() == "TRUNCATE"
    other.close()
