"""Housekeeping does all its chores, whatever becomes of one of them, until it is told to stop."""

from __future__ import annotations

import threading

import pytest
from django_ox.models import OxTask

from tests.media.factory import NOW, author, image_bytes
from vernier.media import Upload
from vernier.media.housekeeping import Chore, do_due, media_chores, run_housekeeping
from vernier.media.models import Sighting

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("staging_directory", "small_variants"),
]


class OneRound(threading.Event):
    """Stops whoever waits for it."""

    def wait(self, timeout=None):
        self.set()
        return True


def lose_job():
    with Upload() as upload:
        upload.write(image_bytes())
        upload.accept(owner=author(), now=NOW)
    OxTask.objects.all().delete()


def test_run_housekeeping__enqueues_lost_work_and_looks_for_left_over_files(staging_directory):
    lose_job()
    (staging_directory / ("0" * 32)).write_bytes(b"left over")
    run_housekeeping(OneRound())
    assert OxTask.objects.count() == 1
    assert Sighting.objects.get().key == "0" * 32


def test_media_chores__tell_what_reconcile_has_done():
    lose_job()
    told = []
    do_due(media_chores(threading.Event(), on_reconciled=told.append), threading.Event())
    assert [reconciled.rung for reconciled in told] == [1]


def test_do_due__a_chore_that_fails_is_reported_and_keeps_no_other(caplog):
    done = []
    chores = [
        Chore(name="broken", every_seconds=60, do=lambda: 1 / 0),
        Chore(name="whole", every_seconds=60, do=lambda: done.append(1)),
    ]
    do_due(chores, threading.Event())
    do_due(chores, threading.Event())
    assert done == [1]
    assert [record.chore for record in caplog.records] == ["broken"]


def test_do_due__nothing_is_begun_after_the_stop():
    stop, done = threading.Event(), []
    chores = [Chore(name="last", every_seconds=0, do=stop.set), Chore(name="never", every_seconds=0, do=done.append)]
    do_due(chores, stop)
    assert done == []
