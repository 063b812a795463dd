"""Reconcile makes rows and jobs agree, and does nothing where they do."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django_ox.models import OxTask

from tests.media.factory import NOW, author, image_bytes
from tests.media.render_in_process import open_renderer_in_process
from vernier.media import accept_upload
from vernier.media.accept import Upload
from vernier.media.conf import media_settings
from vernier.media.lease import claim
from vernier.media.models import UploadKey, Version
from vernier.media.process import process
from vernier.media.reconcile import Reconciled, reconcile

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("staging_directory", "small_variants"),
]

NOTHING = Reconciled(rung=0, spent=0, discarded=0, cleanups=0, forgotten_keys=0)


@pytest.fixture(params=["engine says", "engine cannot say"])
def engine(request, settings):
    """Both kinds of task engine: one that tells which jobs are live, and one that does not."""
    path = "vernier.engines.ox.live_jobs" if request.param == "engine says" else None
    settings.VERNIER_MEDIA = {**settings.VERNIER_MEDIA, "LIVE_JOBS": path}
    return request.param


def upload(now=NOW):
    with Upload() as received:
        received.write(image_bytes())
        accepted = received.accept(owner=author(), now=now)
    return Version.objects.get(media_id=accepted.media_id)


def jobs():
    return [tuple(job.args) for job in OxTask.objects.all()]


def at(seconds):
    return NOW + timedelta(seconds=seconds)


def test_reconcile__lost_job_is_enqueued_again(engine):
    version = upload()
    OxTask.objects.all().delete()
    assert reconcile(at(61)).rung == 1
    assert jobs() == [(str(version.media_id), 1)]


def test_reconcile__live_job_is_left_alone(settings):
    settings.VERNIER_MEDIA = {**settings.VERNIER_MEDIA, "LIVE_JOBS": "vernier.engines.ox.live_jobs"}
    upload()
    assert reconcile(at(4000)) == NOTHING


def test_reconcile__interval_doubles_where_the_engine_cannot_say(settings):
    settings.VERNIER_MEDIA = {**settings.VERNIER_MEDIA, "LIVE_JOBS": None}
    upload()
    rung = [second for second in range(0, 3600, 30) if reconcile(at(second)).rung]
    assert rung == [60, 180, 420, 900, 1860]


def test_j6__expired_lease_is_enqueued_again(engine):
    version = upload()
    OxTask.objects.all().delete()
    claim(version.media_id, 1, conf=media_settings(), clock=lambda: NOW)
    assert reconcile(at(59)) == NOTHING
    assert reconcile(at(61)).rung == 1


def test_reconcile__version_that_waits_for_its_time_is_left_alone(engine):
    upload()
    OxTask.objects.all().delete()
    Version.objects.update(next_attempt_at=at(300), rung_at=at(-5000))
    assert reconcile(at(299)) == NOTHING
    assert reconcile(at(301)).rung == 1


def test_reconcile__clock_that_went_back_strands_nothing(engine):
    version = upload(now=NOW + timedelta(days=30))
    OxTask.objects.all().delete()
    claim(version.media_id, 1, conf=media_settings(), clock=lambda: NOW + timedelta(days=30))
    assert reconcile(NOW).rung == 1


def test_reconcile__spent_attempts_fail():
    version = upload()
    for moment in (NOW, at(100), at(200), at(300)):
        assert claim(version.media_id, 1, conf=media_settings(), clock=lambda moment=moment: moment)
    assert not claim(version.media_id, 1, conf=media_settings(), clock=lambda: at(1000))
    assert reconcile(at(1000)).spent == 1
    version.refresh_from_db()
    assert (version.status, version.failure_code) == ("failed", "attempts-spent")
    assert version.staging_delete_at == at(1000) + timedelta(days=7)


def test_reconcile__original_left_by_a_kill_after_ready_is_deleted(staging_directory, monkeypatch):
    version = upload()
    monkeypatch.setattr("vernier.media.finish.discard_staged", lambda _version: None)
    process(version.media_id, 1, open_renderer=open_renderer_in_process, clock=lambda: NOW)
    assert len(list(staging_directory.iterdir())) == 1
    assert reconcile(at(1)).discarded == 1
    assert (list(staging_directory.iterdir()), Version.objects.get().staging_key) == ([], "")
    assert reconcile(at(2)) == NOTHING


def test_reconcile__original_of_a_failure_that_may_pass_is_kept_a_week(staging_directory):
    upload()
    Version.objects.update(
        status="failed",
        failure_code="storage-unavailable",
        failed_at=NOW,
        staging_delete_at=NOW + timedelta(days=7),
    )
    assert reconcile(NOW + timedelta(days=6)).discarded == 0
    assert reconcile(NOW + timedelta(days=8)).discarded == 1
    assert list(staging_directory.iterdir()) == []


@pytest.mark.parametrize(("days", "discarded"), [(6, 0), (7, 0), (8, 1), (365, 1)])
def test_reconcile__original_that_is_kept_longer_than_it_can_be_is_deleted(days, discarded):
    """A clock has gone back."""
    upload()
    Version.objects.update(
        status="failed", failure_code="storage-unavailable", failed_at=NOW, staging_delete_at=NOW + timedelta(days)
    )
    assert reconcile(NOW).discarded == discarded


def test_reconcile__keys_are_forgotten_after_a_day():
    accept_upload([image_bytes()], owner=author(), idempotency_key="one")
    UploadKey.objects.update(created_at=NOW)
    Version.objects.update(rung_at=at(90_000))
    assert reconcile(NOW + timedelta(hours=23)).forgotten_keys == 0
    assert reconcile(NOW + timedelta(hours=25)).forgotten_keys == 1


def test_reconcile__writes_nothing_where_nothing_is_wrong(engine):
    version = upload()
    process(version.media_id, 1, open_renderer=open_renderer_in_process, clock=lambda: NOW)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert reconcile(at(5)) == NOTHING
    assert [query["sql"] for query in queries if not query["sql"].startswith("SELECT")] == []


def test_reconcile__asks_only_for_the_work_in_flight(engine):
    """Every query goes by an index, with its parameters bound as they are in production: no archive is scanned."""
    asked = []

    def keep(execute, sql, params, many, context):
        asked.append((sql, params))
        return execute(sql, params, many, context)

    lost, spent, left = upload(), upload(), upload()
    OxTask.objects.all().delete()
    Version.objects.filter(pk=spent.pk).update(attempts=4)
    Version.objects.filter(pk=left.pk).update(
        status="superseded", superseded_at=NOW, staging_delete_at=NOW, cleanup_at=NOW, rung_at=NOW
    )
    with connection.execute_wrapper(keep):
        done = reconcile(at(61))
    assert (done.rung, done.spent, done.discarded, done.cleanups) == (1, 1, 1, 1)
    assert jobs().count((str(lost.media_id), 1)) == 1
    for sql, params in asked:
        if not sql.startswith(("SELECT", "UPDATE", "DELETE")):
            continue
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
            plan = [row[3] for row in cursor.fetchall()]
        assert not [line for line in plan if line.startswith("SCAN") and "USING INDEX" not in line], (sql, plan)
