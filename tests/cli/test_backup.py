"""`vernier backup` while others write, and the plain copy of an idle server's file."""

import hashlib
import os
import re
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.cli.site import COMMAND, wait_for
from vernier.cli import backup
from vernier.site.exceptions import VernierError
from vernier.sqlite.backup import copy_database
from vernier.sqlite.options import sqlite_options

CORPUS = Path(__file__).parent.parent / "corpus"
PHOTO = str(CORPUS / "orient_1.jpg")

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("processes")]


def sentence(done):
    """Return the one line on standard error."""
    (line,) = done.stderr.splitlines()
    return line.removeprefix("vernier: ")


def ask(database, query):
    with closing(sqlite3.connect(database)) as opened:
        return opened.execute(query).fetchall()


def drain(site, *, number=1):
    """Upload so many photos and have them processed."""
    site.run("media", "upload", *[PHOTO] * number, "--author", "alice")
    site.run("worker", "--drain")


def damage_rows(database, command):
    with closing(sqlite3.connect(database, isolation_level=None)) as opened:
        for part in sqlite_options()["init_command"].split(";"):
            opened.execute(part)
        opened.execute(command)


def test_backup__is_one_sound_file_of_its_owner(site, tmp_path):
    drain(site)
    copy = tmp_path / "copy.db"
    done = site.run("backup", str(copy))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{copy} has 1 images and is checked.\n"
    assert copy.stat().st_mode & 0o777 == 0o600
    assert ask(copy, "PRAGMA integrity_check") == [("ok",)]
    assert ask(copy, "SELECT status FROM media_version") == [("ready",)]
    assert [file.name for file in tmp_path.glob("copy*")] == ["copy.db"]


def test_backup__overwrites_nothing(site, tmp_path):
    copy = tmp_path / "copy.db"
    copy.write_text("mine")
    done = site.run("backup", str(copy))
    assert done.returncode == 1
    assert sentence(done) == f"There is a file {copy} already; a backup overwrites nothing."
    assert copy.read_text() == "mine"
    done = site.run("backup", str(tmp_path / "none" / "copy.db"))
    assert sentence(done) == f"There is no directory {tmp_path / 'none'} for the backup."
    assert site.run("backup").returncode == 2


def test_backup__of_a_database_that_lacks_files_is_made_and_says_so(site, tmp_path):
    drain(site)
    damage_rows(site.data / "vernier.db", "DELETE FROM media_blob WHERE key LIKE '%photo%'")
    done = site.run("backup", str(tmp_path / "copy.db"))
    assert done.returncode == 1
    assert "1 renditions without their file" in sentence(done)
    assert ask(tmp_path / "copy.db", "PRAGMA integrity_check") == [("ok",)]


FLIP = "UPDATE media_blob SET content = CAST(x'ff' || substr(content, 2) AS BLOB) WHERE key LIKE '%photo%'"


def test_backup__of_a_damaged_file_is_made_and_says_so(site, tmp_path):
    drain(site)
    damage_rows(site.data / "vernier.db", FLIP)
    done = site.run("backup", str(tmp_path / "copy.db"))
    assert done.returncode == 1
    assert "1 renditions with other bytes than were stored (images/" in sentence(done)
    assert ask(tmp_path / "copy.db", "PRAGMA integrity_check") == [("ok",)]


def test_backup__copy_that_is_torn_gets_no_name(site, tmp_path, monkeypatch):
    """A copy whose bytes are not those of the database is the fault of the copy."""
    drain(site)
    copy_database(site.data / "vernier.db", tmp_path / "torn.db")
    damage_rows(tmp_path / "torn.db", FLIP)
    monkeypatch.setattr(backup, "database", lambda: site.data / "vernier.db")
    with closing(sqlite3.connect(site.data / "vernier.db", isolation_level=None)) as opened:
        before = backup.count_contents(opened)
    with pytest.raises(VernierError, match="No backup was made: the copy has 1 renditions with other bytes"):
        backup._check_copy(tmp_path / "torn.db", before, [], lambda _done, _total: None)


def test_backup__removes_what_a_killed_one_has_left_when_it_is_old(site, tmp_path):
    part, mine = tmp_path / "old.db.0123abcd.vernier.part", tmp_path / "mine.part"
    part.touch()
    mine.touch()
    done = site.run("backup", str(tmp_path / "first.db"))
    assert (done.returncode, part.exists()) == (0, True)
    assert sentence(done).startswith(f"{part} is a copy in the making, or was left by one that was killed")
    os.utime(part, (0, 0))
    os.utime(mine, (0, 0))
    assert site.run("backup", str(tmp_path / "second.db")).stderr == ""
    assert (part.exists(), mine.exists()) == (False, True)


def test_migration__keeps_the_newest_five_backups_and_what_a_restore_has_kept(site):
    backups = site.data / "backups"
    backups.mkdir()
    old = [backups / f"2026010{day}T000000.000000Z-vernier.db" for day in range(1, 8)]
    kept = backups / "20260101T000000.000000Z-before-restore-vernier.db"
    for file in (*old, kept):
        file.touch()
    site.run("manage", "migrate", "django_ox", "0007")
    assert site.run("status").returncode == 0
    left = sorted(backups.iterdir())
    assert [file for file in left if file in old] == old[-4:]
    assert (len(left), kept in left) == (6, True)


def test_backup__killed_leaves_no_file_under_the_name(site, tmp_path):
    fill_with_blobs(site.data / "vernier.db", megabytes=50)
    killed = subprocess.Popen([*COMMAND, "backup", str(tmp_path / "copy.db")], env=site.environ())
    wait_for(lambda: list(tmp_path.glob("copy.db.*.part")), seconds=30)
    killed.kill()
    killed.wait()
    assert not (tmp_path / "copy.db").exists()


WRITE = """
import os, sys, time
from pathlib import Path
from tests.sqlite.conftest import open_database
database, log = open_database(sys.argv[1]), open(sys.argv[2], "a")
database.execute("CREATE TABLE IF NOT EXISTS entry (id INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB)")
while True:
    body = os.urandom(8).hex()
    database.execute("INSERT INTO entry (body) VALUES (? || hex(randomblob(2000)))", [body])
    log.write(body + "\\n")
    log.flush()
    # Without any pause SQLite would give the others no turn within their patience.
    time.sleep(0.005)
"""


@contextmanager
def writers(database, log, *, number):
    """Have processes commit one after another, each commit noted in the log once it is acknowledged."""
    command = [sys.executable, "-c", WRITE, database]
    started = [subprocess.Popen([*command, f"{log}.{at}"]) for at in range(number)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def noted(log):
    """Return what was acknowledged so far; the last line may be half written."""
    lines = "".join(file.read_text().rpartition("\n")[0] + "\n" for file in log.parent.glob(f"{log.name}.*"))
    return set(lines.split())


def test_backup__under_load_has_every_commit_acknowledged_before_it(site, tmp_path):
    log, urls = tmp_path / "acknowledged", []
    site.start()

    def upload():
        for _ in range(2):
            urls.extend(site.run("media", "upload", PHOTO, PHOTO, "--author", "alice").stdout.splitlines())

    uploads = threading.Thread(target=upload)
    with writers(site.data / "vernier.db", log, number=2):
        uploads.start()
        wait_for(lambda: len(noted(log)) > 20 and urls, seconds=150)
        for number in range(2):
            before, before_urls = noted(log), list(urls)
            copy = tmp_path / f"copy-{number}.db"
            done = site.run("backup", str(copy))
            assert done.returncode == 0, done.stderr
            assert before <= {body[:16] for (body,) in ask(copy, "SELECT body FROM entry")}
            ids = {media_id for (media_id,) in ask(copy, "SELECT id FROM media_media")}
            assert {url.rpartition("/")[2].replace("-", "") for url in before_urls} <= ids
            assert ask(copy, "PRAGMA integrity_check") == [("ok",)]
        uploads.join()
    assert len(urls) == 4


def fill_with_blobs(database, *, megabytes):
    """Add so many renditions of one megabyte, each with its rows; without a decoder, which would take minutes."""
    with closing(sqlite3.connect(database, isolation_level=None)) as opened:
        for command in sqlite_options()["init_command"].split(";"):
            opened.execute(command)
        numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {megabytes})"
        media_id, now = "printf('%032x', i)", "'2026-11-30 12:00:00'"
        opened.execute("BEGIN IMMEDIATE")
        opened.execute(
            "INSERT INTO media_media (id, owner_id, newest_number, created_at, cleanup_failures, rings)"
            f" {numbers} SELECT {media_id}, (SELECT min(id) FROM authors_author), 1, {now}, 0, 0 FROM n"
        )
        values = {
            "media_id": media_id, "number": 1, "status": "'ready'", "sha256": "''", "byte_size": 1,
            "image_type": "'jpeg'", "extension": "'jpg'", "staging_key": "''", "original_key": "''",
            "placeholder": "''",
            "variants": "'[]'", "width": 1, "height": 1, "attempts": 0, "strikes": 0, "rung_at": now, "rings": 0,
            "cleanup_failures": 0,
            "failure_code": "''", "failure_detail": "''", "accepted_at": now, "ready_at": now,
        }  # fmt: skip
        opened.execute(
            f"INSERT INTO media_version ({', '.join(values)}) {numbers}"
            f" SELECT {', '.join(map(str, values.values()))} FROM n"
        )
        opened.execute(
            "INSERT INTO media_rendition"
            " (version_id, variant, format, width, height, byte_size, sha256, storage_key, created_at)"
            f" SELECT id, 'photo', 'avif', 1, 1, 1000000, '', 'images/' || media_id || '/v1/photo.avif', {now}"
            " FROM media_version WHERE sha256 = ''"
        )
        opened.execute(
            f"INSERT INTO media_blob (key, content, created_at) SELECT storage_key, randomblob(1000000), {now}"
            " FROM media_rendition WHERE sha256 = ''"
        )
        opened.create_function("sha256", 1, lambda content: hashlib.sha256(content).hexdigest())
        opened.execute(
            "UPDATE media_rendition SET sha256 = sha256((SELECT content FROM media_blob WHERE key = storage_key))"
            " WHERE sha256 = ''"
        )
        opened.execute(
            "UPDATE media_media SET current_id = (SELECT id FROM media_version WHERE media_id = media_media.id)"
            " WHERE current_id IS NULL AND newest_number = 1"
        )
        opened.execute("COMMIT")


def test_housekeeping__web_and_worker_apart_have_one_checkpointer_and_the_other_takes_over(site):
    """Either may hold the lock; when its holder is killed the other empties the log."""
    web = site.start("web").process
    worker = subprocess.Popen([*COMMAND, "worker"], env=site.environ(), stderr=subprocess.DEVNULL)
    site.servers.append(worker)
    wait_for(lambda: list(site.data.glob("run/*.heartbeat")))
    log = site.data / "vernier.db-wal"
    site.run("author", "create", "bob")
    wait_for(lambda: log.stat().st_size == 0, seconds=15)
    (first,) = lock_holders(site.data / "checkpoint.lock")
    assert lock_holders(site.data / "housekeeping.lock") == [first]
    killed, survivor = (web, worker) if first == web.pid else (worker, web)
    killed.kill()
    killed.wait()
    site.run("author", "create", "carol")
    wait_for(lambda: log.stat().st_size == 0, seconds=15)
    assert lock_holders(site.data / "checkpoint.lock") == [survivor.pid]


def lock_holders(file):
    """Return the ids of the processes that hold the lock, from the kernel's list (see proc_locks(5))."""
    inode = file.stat().st_ino
    lines = Path("/proc/locks").read_text().splitlines()
    pattern = re.compile(rf"FLOCK\s+ADVISORY\s+WRITE (\d+) \w+:\w+:{inode} ")
    return sorted({int(found[1]) for line in lines if "->" not in line and (found := pattern.search(line))})
