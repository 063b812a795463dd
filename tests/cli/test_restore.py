"""`vernier restore`, and a copy of the file that is put in place by hand."""

import json
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import httpx
import pytest

from tests.cli.site import COMMAND, Site, wait_for
from tests.cli.test_backup import FLIP, PHOTO, ask, damage_rows, drain, fill_with_blobs, sentence
from vernier.cli import restore
from vernier.site.exceptions import VernierError
from vernier.sqlite.backup import copy_database
from vernier.sqlite.write_ahead_log import has_foreign_log, log_of

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("processes")]


@pytest.fixture
def other(tmp_path, template):
    """Another site, on a data directory of its own."""
    site = Site(tmp_path / "other")
    shutil.copytree(template, site.data)
    yield site
    site.kill()


@pytest.fixture
def backup(site, tmp_path):
    drain(site)
    site.run("backup", str(tmp_path / "backup.db"))
    return tmp_path / "backup.db"


def names(site):
    return [name for (name,) in ask(site.data / "vernier.db", "SELECT username FROM authors_author ORDER BY 1")]


def versions(site):
    counted = json.loads(site.run("status", "--json").stdout)["versions"]
    return {status: number for status, number in counted.items() if number}


def test_restore__keeps_what_was_there(other, backup):
    other.run("author", "create", "bob")
    done = other.run("restore", str(backup))
    assert (done.returncode, done.stderr) == (0, "")
    (kept,) = (other.data / "backups").iterdir()
    assert done.stdout == (
        f"Restored 1 images from {backup}.\nThe database that was there before is kept in {kept}.\n"
    )
    assert names(other) == ["alice"]
    assert versions(other) == {"ready": 1}
    assert ask(kept, "SELECT username FROM authors_author ORDER BY 1") == [("alice",), ("bob",)]
    assert not list(other.data.glob("restore-*"))
    assert {file.name for file in other.data.glob("vernier.db*")} == {"vernier.db"}


def test_restore__into_an_empty_directory(new_site, other, tmp_path):
    other.run("backup", str(tmp_path / "backup.db"))
    done = new_site.run("restore", str(tmp_path / "backup.db"))
    assert (done.returncode, done.stderr) == (0, "")
    assert names(new_site) == ["alice"]
    assert (new_site.data / "vernier.db").stat().st_mode & 0o777 == 0o600


def test_restore__of_an_older_schema_migrates_it(site, other, tmp_path):
    site.run("manage", "migrate", "django_ox", "0007")
    copy_database(site.data / "vernier.db", tmp_path / "old.db")
    assert other.run("restore", str(tmp_path / "old.db")).returncode == 0
    assert other.run("manage", "migrate", "--check").returncode == 0


def corrupt(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 4 : len(content) // 2] = bytes(len(content) // 2 - len(content) // 4)
    file.write_bytes(content)


def make_foreign(file):
    file.unlink()
    with closing(sqlite3.connect(file)) as opened:
        opened.execute("CREATE TABLE entry (id INTEGER)")


REFUSALS = [
    (lambda file: file.write_text("no database at all"), "is not a SQLite database."),
    (
        lambda file: file.write_bytes(file.read_bytes()[:200_000]),
        "is damaged: ",
    ),
    (corrupt, "is damaged: "),
    (make_foreign, "is a database, but not one of Vernier: it has no table django_migrations."),
    (
        lambda file: damage_rows(
            file, "INSERT INTO django_migrations (app, name, applied) VALUES ('media', '9', '')"
        ),
        "was made by a newer version of Vernier: it has media 9, which this version does not know.",
    ),
    (lambda file: damage_rows(file, "DELETE FROM media_blob WHERE key LIKE '%photo%'"), "is not complete: 0 images"),
    (lambda file: damage_rows(file, FLIP), "has 1 renditions with other bytes than were stored (images/"),
    (lambda file: damage_rows(file, "UPDATE media_media SET newest_number = 2"), "is not complete: 1 images"),
    (lambda file: damage_rows(file, "DELETE FROM media_version"), "is damaged: row "),
    (lambda file: file.unlink(), None),
]


def test_restore__refuses_what_is_not_sound_and_changes_nothing(other, backup):
    before = (other.data / "vernier.db").read_bytes()
    corrupt(backup)
    done = other.run("restore", str(backup))
    assert done.returncode == 1
    assert sentence(done).startswith(f"{backup} is damaged: ")
    assert (other.data / "vernier.db").read_bytes() == before
    assert not list(other.data.glob("restore-*"))
    assert not (other.data / "backups").exists()


def test_restore__says_what_is_wrong_with_a_file(backup, tmp_path):
    bad = tmp_path / "bad.db"
    for damage, expected in REFUSALS:
        shutil.copy(backup, bad)
        damage(bad)
        with pytest.raises(VernierError) as told:
            take_in(bad, tmp_path)
        assert str(told.value).startswith(f"{bad} {expected}" if expected else f"There is no file {bad}.")


def take_in(file, directory):
    """Do what the command does with a file before it touches the database."""
    restore._require_file(file)
    with restore._copied_in(file, directory) as copy:
        restore._check(copy, file, is_forced=False)


def test_restore__by_force_takes_what_is_sound_but_not_complete(other, backup):
    damage_rows(backup, "DELETE FROM media_blob WHERE key LIKE '%photo%'")
    assert other.run("restore", str(backup), "--force").returncode == 0
    assert versions(other) == {"ready": 1}


def test_restore__of_the_database_itself(site):
    done = site.run("restore", str(site.data / "vernier.db"))
    assert sentence(done) == f"{site.data / 'vernier.db'} is the database in use itself; nothing was done."


@pytest.mark.parametrize("command", ["serve", "web", "worker"])
def test_restore__refuses_while_a_server_runs(other, backup, command):
    if command == "worker":
        other.servers.append(subprocess.Popen([*COMMAND, "worker"], env=other.environ(), stderr=subprocess.DEVNULL))
        wait_for(lambda: list(other.data.glob("run/*.heartbeat")))
    else:
        other.start(command)
    done = other.run("restore", str(backup))
    assert done.returncode == 1
    assert sentence(done) == f"A server is running on the data directory {other.data}; stop it first."


def test_restore__refuses_while_another_program_has_the_database_open(other, backup):
    with closing(sqlite3.connect(other.data / "vernier.db")) as opened:
        opened.execute("SELECT count(*) FROM authors_author").fetchall()
        done = other.run("restore", str(backup))
    assert done.returncode == 1
    assert sentence(done) == f"Another program has {other.data / 'vernier.db'} open; end it first."
    assert other.run("restore", str(backup)).returncode == 0


def test_restore__over_a_damaged_database_keeps_its_bytes(other, backup):
    database = other.data / "vernier.db"
    database.write_bytes(b"no database" * 1000)
    log_of(database).write_bytes(b"nor a log")
    assert other.run("restore", str(backup)).returncode == 0
    assert versions(other) == {"ready": 1}
    assert sorted(file.read_bytes()[:9] for file in (other.data / "backups").iterdir()) == [
        b"no databa",
        b"nor a log",
    ]


WRITE_AND_DIE = """
import os, sys
from tests.sqlite.conftest import open_database
database = open_database(sys.argv[1])
database.execute("UPDATE authors_author SET username = 'bob'")
database.execute("CREATE TABLE more AS SELECT zeroblob(100000) AS content")
os.kill(os.getpid(), 9)
"""


def killed_log(site):
    """Leave a log with commits beside the database, as a server that was killed does."""
    subprocess.run([sys.executable, "-c", WRITE_AND_DIE, site.data / "vernier.db"], check=False)
    assert log_of(site.data / "vernier.db").stat().st_size > 0


def test_restore__over_a_killed_server_keeps_what_it_had_committed(other, backup):
    killed_log(other)
    assert other.run("restore", str(backup)).returncode == 0
    assert {file.name for file in other.data.glob("vernier.db*")} == {"vernier.db"}
    (kept,) = (other.data / "backups").iterdir()
    assert ask(kept, "SELECT username FROM authors_author") == [("bob",)]
    assert ask(other.data / "vernier.db", "PRAGMA integrity_check") == [("ok",)]
    assert versions(other) == {"ready": 1}


def test_restore__puts_right_a_copy_that_was_laid_beside_a_stale_log(other, backup):
    killed_log(other)
    shutil.copy(backup, other.data / "vernier.db")
    assert has_foreign_log(other.data / "vernier.db")
    assert other.run("restore", str(backup)).returncode == 0
    assert versions(other) == {"ready": 1}
    assert len(list((other.data / "backups").iterdir())) == 2


def test_restore__killed_at_any_moment_leaves_one_database_or_the_other(other, backup, tmp_path):
    fill_with_blobs(backup, megabytes=50)
    other.run("author", "create", "bob")
    landed = 0
    for at in range(6):
        killed = subprocess.Popen(
            [*COMMAND, "restore", str(backup)], env=other.environ(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        if at < 5:
            wait_for(lambda: list(other.data.glob("restore-*")) or killed.poll() is not None)  # noqa: B023
            time.sleep(0.05 * at)
            landed += killed.poll() is None
            killed.kill()
        killed.communicate()
        assert ask(other.data / "vernier.db", "PRAGMA integrity_check") == [("ok",)]
        assert names(other) in (["alice"], ["alice", "bob"])
    # The first does, whatever the machine: the copy has only just begun.
    assert landed >= 1
    assert killed.returncode == 0
    assert versions(other) == {"ready": 51}
    assert not list(other.data.glob("restore-*"))


def test_copy__of_an_idle_server_is_a_complete_backup(site, other, tmp_path):
    """What was Ready is served; what was in flight ends as lost, and nothing else is wrong. Some 50 MB."""
    fill_with_blobs(site.data / "vernier.db", megabytes=50)
    drain(site, number=2)
    server = site.start("web")
    in_flight = site.run("media", "upload", PHOTO, "--author", "alice").stdout.strip().rpartition("/")[2]
    wait_for(lambda: log_of(site.data / "vernier.db").stat().st_size == 0)
    subprocess.run(["cp", site.data / "vernier.db", other.data / "vernier.db"], check=True)
    ready = [url for (url,) in ask(other.data / "vernier.db", READY)]
    assert len(ready) > 52
    assert other.run("worker", "--drain").returncode == 0
    report = json.loads(other.run("status", "--json").stdout)
    assert {status: number for status, number in report["versions"].items() if number} == {"ready": 52, "failed": 1}
    assert [(failure["media"], failure["code"]) for failure in report["failures"]] == [(in_flight, "original-lost")]
    copy = other.start("web")
    with httpx.Client() as client:
        for url in ready:
            assert client.get(copy.url + url).content == client.get(server.url + url).content != b""


READY = """
SELECT '/media/' || substr(id, 1, 8) || '-' || substr(id, 9, 4) || '-' || substr(id, 13, 4) || '-'
       || substr(id, 17, 4) || '-' || substr(id, 21) || '/v' || number || '/' || variant || '.'
       || CASE format WHEN 'jpeg' THEN 'jpg' ELSE format END
FROM (SELECT version.media_id AS id, version.number, rendition.variant, rendition.format
      FROM media_rendition AS rendition JOIN media_version AS version ON version.id = rendition.version_id)
"""


def test_start__refuses_the_log_of_another_database(other, backup):
    """A copy laid over the file while the log of what was there before is still beside it."""
    writer = subprocess.Popen(
        [sys.executable, "-c", HOLD_A_LOG_OPEN, str(other.data / "vernier.db")], stdout=subprocess.PIPE
    )
    writer.stdout.readline()
    writer.kill()
    writer.wait()
    assert log_of(other.data / "vernier.db").stat().st_size > 0
    shutil.copy(backup, other.data / "vernier.db")
    done = other.run("status")
    assert done.returncode == 1
    assert sentence(done).startswith(f"The log {log_of(other.data / 'vernier.db')} is not that of ")
    log_of(other.data / "vernier.db").unlink()
    assert versions(other) == {"ready": 1}


# A transaction in the log, its writer still connected.
HOLD_A_LOG_OPEN = """
import sqlite3, sys, time
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA wal_autocheckpoint=0")
database.execute("CREATE TABLE other (a)")
print("written", flush=True)
time.sleep(60)
"""
