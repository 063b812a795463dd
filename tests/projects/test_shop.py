"""docs/django.md is right: somebody else's project, with the app `vernier.media` and nothing else of Vernier."""

import re
import signal
import sqlite3
import time
from contextlib import closing
from dataclasses import fields
from pathlib import Path

import pytest

from tests.projects.as_documented import PAGE, ROOT, Shop, files
from vernier.media.conf import MediaSettings

CORPUS = Path(__file__).parent.parent / "corpus"
# A machine under load is slow to start a process.
PATIENCE_SECONDS = 60

pytestmark = pytest.mark.processes

ACCEPT = """
from datetime import timedelta
from django.contrib.auth.models import User
from django.utils import timezone
from vernier.media import accept_upload
from vernier.media.models import Version
from django_ox.models import OxTask
with open({photo!r}, "rb") as photo:
    accept_upload(photo, owner=User.objects.create_user("bob"))
Version.objects.update(rung_at=timezone.now() - timedelta(hours=1))
OxTask.objects.all().delete()
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return Shop(tmp_path_factory.mktemp("shop"))


def jobs(shop):
    with closing(sqlite3.connect(shop.directory / "db.sqlite3")) as database:
        return database.execute("SELECT COUNT(*) FROM django_ox_oxtask WHERE status = 'READY'").fetchone()[0]


def test_page__names_the_file_of_each_block():
    assert [name for name, _ in files()] == [
        "shop/settings.py",
        "catalog/models.py",
        "catalog/views.py",
        "catalog/templates/catalog/product.html",
        "shop/urls.py",
        "catalog/models.py",
    ]


def test_page__has_every_setting():
    rows = re.findall(r"^\| (`[A-Z_`, ]+) \|", PAGE.read_text(), re.MULTILINE)
    named = [key.strip("` ") for row in rows for key in row.split(",")]
    assert sorted(named) == sorted(field.name.upper() for field in fields(MediaSettings))


def test_shop__has_no_complaint_and_misses_no_migration(shop):
    shop.run("manage.py", "check", "--fail-level", "WARNING")
    shop.run("manage.py", "makemigrations", "--check", "--dry-run")


def test_shop__sells(shop):
    shop.run(str(ROOT / "tests/projects/sell.py"), str(CORPUS / "orient_6.jpg"), str(CORPUS / "jpeg_444.jpg"))


def test_shop__housekeeping_enqueues_lost_work_until_it_is_told_to_stop(shop):
    shop.run("manage.py", "shell", "--command", ACCEPT.format(photo=str(CORPUS / "orient_6.jpg")))
    assert jobs(shop) == 0
    with shop.start("manage.py", "vernier_housekeeping") as housekeeping:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not jobs(shop) and time.monotonic() < deadline:
            time.sleep(0.1)
        housekeeping.send_signal(signal.SIGTERM)
        _, error = housekeeping.communicate()
    assert jobs(shop) == 1, error
    assert housekeeping.returncode == 0
