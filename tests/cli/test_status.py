"""`vernier status` for people: on a terminal, in a pipe, and while it is watched."""

import os
import pty
import re
import signal
import subprocess
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.cli.site import COMMAND, wait_for
from tests.cli.test_backup import CORPUS, PHOTO
from vernier.cli import status
from vernier.media import accept_upload

ESCAPE = re.compile(r"\x1b\[")


def lines(text):
    return dict(line.split(": ", 1) for line in text.splitlines())


@pytest.mark.django_db
def test_j4__text_shows_waiting_and_processing_apart_each_with_its_age(author):
    now = timezone.now()
    for _ in range(2):
        accept_upload([(CORPUS / "orient_1.jpg").read_bytes()], owner=author)
    first, second = status.Version.objects.order_by("pk")
    status.Version.objects.filter(pk=first.pk).update(accepted_at=now - timedelta(seconds=700))
    status.Version.objects.filter(pk=second.pk).update(
        status="processing", lease_token="0" * 32, lease_expires_at=now, claimed_at=now - timedelta(seconds=30)
    )
    shown = lines(status.as_text(status.status(now), oldest_processing_seconds=30.0).plain)
    assert shown["Uploads"].startswith("1 pending, 1 processing, 0 ready")
    assert shown["Oldest pending upload"] == "700 s"
    assert shown["Oldest processing upload"] == "30 s"
    assert shown["Jobs"] == "2 queued, 0 running"


def on_terminal(*arguments, env, signum=None):
    """Run the command on a terminal of 60 columns; return its exit code and what it has shown."""
    parent, child = pty.openpty()
    started = subprocess.Popen(
        [*COMMAND, *arguments], stdin=child, stdout=child, stderr=child, env=env, start_new_session=True
    )
    os.close(child)
    shown, sent = b"", False
    while True:
        try:
            shown += os.read(parent, 4096)
        except OSError:
            break
        if signum and not sent and shown.count(b"Uploads:") >= 2:
            started.send_signal(signum)
            sent = True
    os.close(parent)
    return started.wait(10), shown.decode()


pytestmark = pytest.mark.xdist_group("processes")


@pytest.mark.processes
def test_status__is_plain_in_a_pipe_and_in_colour_on_a_terminal(site):
    site.run("media", "upload", PHOTO, str(CORPUS / "jpeg_header_only.jpg"), "--author", "alice")
    site.run("worker", "--drain")
    plain = site.run("status")
    assert (plain.returncode, plain.stderr) == (0, "")
    assert not ESCAPE.search(plain.stdout)
    assert "1 ready, 1 failed" in plain.stdout
    assert re.search(r"^Failed 20\S+: \S+ v1: (undecodable|truncated): This file .*\.$", plain.stdout, re.MULTILINE)
    code, shown = on_terminal("status", env={**site.environ(), "TERM": "xterm-256color"})
    assert code == 0
    assert ESCAPE.search(shown)
    code, shown = on_terminal("status", env={**site.environ(), "TERM": "xterm-256color", "NO_COLOR": "1"})
    assert "\x1b[3" not in shown


@pytest.mark.processes
def test_watch__looks_again_until_ctrl_c(site):
    env = {**site.environ(), "TERM": "xterm-256color"}
    code, shown = on_terminal("status", "--watch", env=env, signum=signal.SIGINT)
    assert code == 130
    assert "Traceback" not in shown
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l"), "the cursor is shown again"


@pytest.mark.processes
def test_watch__breaks_what_a_narrow_terminal_does_not_hold(site):
    site.run("media", "upload", str(CORPUS / "jpeg_header_only.jpg"), "--author", "alice")
    site.run("worker", "--drain")
    env = {**site.environ(), "TERM": "xterm-256color", "COLUMNS": "30", "LINES": "24"}
    _, shown = on_terminal("status", "--watch", env=env, signum=signal.SIGINT)
    assert "superseded" in shown
    assert re.search("undecodable|truncated", shown)


@pytest.mark.processes
def test_watch__in_a_pipe(site):
    watching = subprocess.Popen(
        [*COMMAND, "status", "--watch"], env=site.environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert watching.stdout.readline().startswith("Uploads: 0 pending")
    site.run("media", "upload", PHOTO, "--author", "alice")
    wait_for(lambda: watching.stdout.readline().startswith("Uploads: 1 pending"))
    watching.send_signal(signal.SIGINT)
    assert watching.wait(10) == 130
    assert watching.communicate()[1] == ""


@pytest.mark.processes
def test_watch__and_json_exclude_each_other(site):
    assert site.run("status", "--watch", "--json").returncode == 2


def test_warning__names_the_sqlite_with_the_fault(monkeypatch):
    monkeypatch.setattr(status.sqlite3, "sqlite_version_info", (3, 40, 1))
    idle = {"versions": {}, "jobs": {"queued": 0, "running": 0}, "oldest_pending_seconds": None}
    report = {**idle, "mail": {"unsent": 0, "failed": 0}, "failures": []}
    assert "Warning: SQLite 3.40.1 can corrupt" in status.as_text(report, oldest_processing_seconds=None).plain
    monkeypatch.setattr(status.sqlite3, "sqlite_version_info", (3, 53, 0))
    assert "Warning" not in status.as_text(report, oldest_processing_seconds=None).plain
