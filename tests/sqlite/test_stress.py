"""Several processes write as fast as they can while ours checkpoints; the naive settings corrupt SQLite 3.40 here."""

import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from vernier.sqlite.checkpoint import Checkpointer

WRITERS = 4
SECONDS = 3

WRITE = """
import sys, time
from tests.sqlite.conftest import open_database
database = open_database(sys.argv[1])
ends_at, count = time.monotonic() + float(sys.argv[2]), 0
while time.monotonic() < ends_at:
    database.execute("BEGIN IMMEDIATE")
    database.execute("INSERT INTO entry (body) VALUES (randomblob(20000))")
    database.execute("DELETE FROM entry WHERE id IN (SELECT id FROM entry ORDER BY id LIMIT 1)")
    database.execute("INSERT INTO entry (body) VALUES (randomblob(300))")
    database.execute("COMMIT")
    count += 1
print(count)
"""


@pytest.mark.processes
def test_stress__several_writers_and_one_checkpointer(database, database_path, monkeypatch):
    monkeypatch.setattr("vernier.sqlite.checkpoint.PASSIVE_SECONDS", 0.05)
    checkpointer = Checkpointer(database_path)
    command = [sys.executable, "-c", WRITE, database_path, str(SECONDS)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(WRITERS)]
    checkpoints = 0
    while any(writer.poll() is None for writer in writers):
        checkpoints += checkpointer.tick() is not None
        time.sleep(0.01)
    commits = [int(writer.communicate()[0]) for writer in writers]
    checkpointer.close()
    assert min(commits) > 0
    assert checkpoints > 3
    with closing(sqlite3.connect(database_path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT count(*) FROM entry").fetchone() == (sum(commits),)
