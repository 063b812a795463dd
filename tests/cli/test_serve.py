"""The server as real processes, and what is left of it when they are killed."""

import hashlib
import json
import shutil
import signal
import socket
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import httpx
import psutil
import pytest

from tests.cli.site import wait_for

CORPUS = Path(__file__).parent.parent / "corpus"

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("processes")]


def test_serve__first_start_makes_everything_and_is_well(new_site):
    server = new_site.start()
    assert server.get("/healthz").json() == {"status": "ok", "database": "ok", "worker": "ok"}
    assert "Nothing has been published here yet." in server.get("/").text
    assert {"vernier.db", "secret-key", "staging", "run"} <= {file.name for file in new_site.data.iterdir()}
    assert new_site.data.stat().st_mode & 0o777 == 0o700
    assert "SQLite" in server.log.read_text()


def test_serve__sigterm_ends_it_in_time_with_a_complete_database_file(site):
    server = site.start()
    children = server.children()
    started = time.monotonic()
    assert server.end() == 0
    assert time.monotonic() - started < 10
    assert not any(child.is_running() for child in children)
    assert not list(site.data.glob("vernier.db-*"))
    assert not list(site.data.glob("run/*.heartbeat"))


def test_serve__child_that_does_not_end_is_killed_in_time(site):
    server = site.start()
    children = server.children()
    for child in children:
        child.suspend()
    started = time.monotonic()
    assert server.end() == 0
    assert time.monotonic() - started < 9
    assert not any(child.is_running() for child in children)


def test_serve__ctrl_c(site):
    server = site.start()
    assert server.end(signal.SIGINT) == 130
    assert "Traceback" not in server.log.read_text()


def test_serve__sigterm_while_it_starts(site, tmp_path):
    server = site.start()
    server.children("web")[0].kill()
    assert server.end() == 0


def test_serve__a_killed_web_process_is_started_again(site):
    server = site.start()
    web = server.children("vernier web")[0]
    web.kill()
    assert server.get("/healthz").status_code == 200
    assert server.children("vernier web")[0].pid != web.pid


def test_serve__a_killed_worker_is_started_again(site):
    server = site.start("serve", "--workers", "2")
    workers = server.children("vernier worker")
    assert len(workers) == 2
    workers[0].kill()
    wait_for(lambda: {child.pid for child in server.children("vernier worker")} - {worker.pid for worker in workers})
    assert workers[1].is_running()


def test_serve__killing_it_leaves_no_child(site):
    server = site.start()
    children = server.children()
    assert len(children) >= 2
    server.process.kill()
    server.process.wait()
    psutil.wait_procs(children, timeout=10)
    assert not [child for child in children if child.is_running()]
    assert site.start().get("/healthz").status_code == 200


def test_serve__port_in_use(site):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        bind = f"127.0.0.1:{taken.getsockname()[1]}"
        done = site.run("serve", "--bind", bind)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"vernier: The address {bind} is in use by another program; choose another with --bind."
    )


def test_serve__database_that_is_gone_is_told_of_before_a_new_site_begins(site):
    assert site.start().end() == 0
    (site.data / "vernier.db").unlink()
    assert "no database any more" in site.run("status").stderr
    assert "no database any more" not in site.run("status").stderr


def test_serve__second_server_on_the_same_data(site):
    site.start()
    done = site.run("serve", "--bind", "127.0.0.1:0")
    assert done.returncode == 1
    assert f"Another server is running on the data directory {site.data}." in done.stderr


def test_serve__upload_by_command_becomes_ready_and_the_url_is_the_servers(site):
    server = site.start()
    done = site.run("media", "upload", str(CORPUS / "orient_6.jpg"), "--author", "alice")
    url = done.stdout.strip()
    assert url.startswith(f"{server.url}/media/")
    assert wait_for(lambda: httpx.get(url).status_code == 200)
    assert httpx.get(url).headers["content-type"] == "image/avif"


def test_serve__sigterm_makes_the_worker_hand_its_work_back(site):
    server = site.start()
    files = [str(CORPUS / "jpeg_444.jpg")] * 6
    urls = site.run("media", "upload", *files, "--author", "alice").stdout.splitlines()
    assert server.end() == 0
    versions = json.loads(site.run("status", "--json").stdout)["versions"]
    assert versions["processing"] == versions["failed"] == 0
    assert versions["pending"] + versions["ready"] == len(urls) == 6
    assert site.run("worker", "--drain").returncode == 0
    assert json.loads(site.run("status", "--json").stdout)["versions"]["ready"] == 6


def test_serve__idle_it_writes_nothing_and_a_copy_is_complete(site, tmp_path):
    site.start(RECONCILE_SECONDS=1)
    site.run("author", "create", "bob")
    log = site.data / "vernier.db-wal"

    def look():
        files = [site.data / "vernier.db", log]
        return [(file.stat().st_mtime_ns, hashlib.sha256(file.read_bytes()).hexdigest()) for file in files]

    def is_settled():
        # A file that is cut has its new length some milliseconds before its new time.
        seen = look()
        time.sleep(0.2)
        return log.stat().st_size == 0 and look() == seen

    wait_for(is_settled)
    before = look()
    time.sleep(2.5)
    assert look() == before
    shutil.copyfile(site.data / "vernier.db", tmp_path / "copy.db")
    with closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
        names = copy.execute("SELECT username FROM authors_author ORDER BY username").fetchall()
        assert names == [("alice",), ("bob",)]
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_web__alone_says_that_no_worker_lives(site):
    server = site.start("web")
    answer = server.get("/healthz")
    assert answer.status_code == 503
    assert answer.json() == {"status": "failing", "database": "ok", "worker": "silent"}
    assert server.end() == 0


def test_web__keeps_house_where_nobody_else_does(site):
    site.start("web")
    log = site.data / "vernier.db-wal"
    site.run("author", "create", "bob")
    assert log.stat().st_size > 0
    wait_for(lambda: log.stat().st_size == 0)


def test_serve__logs_are_json_when_asked_for(site):
    server = site.start(LOG_FORMAT="json")
    assert all(line.startswith("{") for line in server.log.read_text().splitlines())


def test_serve__dotenv_in_the_data_directory(site):
    (site.data / ".env").write_text("VERNIER_LOG_FORMAT=json\n")
    assert site.start().log.read_text().startswith("{")


@pytest.mark.parametrize("command", [["serve"], ["web"], ["worker"], ["worker", "--drain"]])
def test_servers__setting_that_only_its_use_would_show_to_be_wrong(site, command):
    done = site.run(*command, PURGE="nosuch.module")
    assert done.returncode == 1
    assert "'nosuch.module'; valid is the dotted path of a function" in done.stderr
