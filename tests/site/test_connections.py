"""On no connection of a site does SQLite checkpoint by itself: two at once can corrupt the database."""

import asyncio
import os
import subprocess
import sys
import threading
from uuid import uuid4

import pytest
from django.db import connection
from django.db.backends.signals import connection_created
from django.test import AsyncClient
from django_ox.worker import Worker

from vernier.media.tasks import process_version
from vernier.sqlite.checkpoint import connect

SHOW = "from django.db import connection as c; print(c.cursor().execute('PRAGMA wal_autocheckpoint').fetchone())"


@pytest.fixture
def opened():
    """Collect, by the name of the thread, the automatic checkpoint of each connection that is opened."""
    found = {}

    def note(connection, **kwargs):
        with connection.cursor() as cursor:
            pages = cursor.execute("PRAGMA wal_autocheckpoint").fetchone()[0]
        found.setdefault(threading.current_thread().name, set()).add(pages)

    connection.close()
    connection_created.connect(note)
    yield found
    connection_created.disconnect(note)


@pytest.mark.django_db(transaction=True)
def test_autocheckpoint__is_off_in_the_threads_of_the_web(opened):
    asyncio.run(AsyncClient().get("/healthz"))
    assert opened
    assert set().union(*opened.values()) == {0}
    assert threading.main_thread().name not in opened


@pytest.mark.django_db(transaction=True)
def test_autocheckpoint__is_off_in_every_thread_of_a_worker(opened):
    process_version.enqueue(str(uuid4()), 1)
    connection.close()
    Worker(batch=True, poll_interval=0.01, renew_interval=0.01).run()
    assert any(name.startswith("ox") for name in opened)
    assert set().union(*opened.values()) == {0}


@pytest.mark.processes
def test_autocheckpoint__is_off_in_a_command(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "vernier", "manage", "shell", "--verbosity", "0", "-c", SHOW],
        env={"PATH": os.environ["PATH"], "VERNIER_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "(0,)"


def test_autocheckpoint__is_off_where_checkpoints_are_made(tmp_path):
    assert connect(tmp_path / "x.db").execute("PRAGMA wal_autocheckpoint").fetchone() == (0,)
