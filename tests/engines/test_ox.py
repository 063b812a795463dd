import threading
import time
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone
from django_ox import worker as django_ox
from django_ox.models import OxTask

from vernier.engines import ox
from vernier.media.tasks import process_version

pytestmark = pytest.mark.django_db


def enqueue(**changes):
    """Enqueue a job for a Version that does not exist, and change its row."""
    media_id = uuid4()
    result = process_version.enqueue(str(media_id), 3)
    OxTask.objects.filter(pk=result.id).update(**changes)
    return media_id, 3


def running(seconds):
    """Return the row of a job whose worker has said that it lives until `seconds` from now."""
    until = timezone.now() + timedelta(seconds=seconds)
    return {"status": "RUNNING", "lease_expires_at": until, "locked_at": until - timedelta(seconds=30)}


def test_live_jobs__waiting_and_running():
    later = enqueue(run_after=timezone.now() + timedelta(minutes=10))
    expected = {enqueue(), enqueue(**running(10)), later}
    assert ox.live_jobs() == expected


def test_live_jobs__not_those_whose_time_is_further_off_than_any_delay():
    enqueue(run_after=timezone.now() + timedelta(days=1))
    enqueue(**running(24 * 3600))
    assert ox.live_jobs() == set()


def test_live_jobs__not_those_that_ended_or_whose_worker_is_gone():
    for status in ("SUCCESSFUL", "FAILED", "LOST", "DISCARDED"):
        enqueue(status=status)
    enqueue(**running(-1))
    assert ox.live_jobs() == set()


def test_live_jobs__of_this_kind_only():
    enqueue(task_path="elsewhere.tasks.mail")
    assert ox.live_jobs() == set()


def test_count_jobs__queued_and_running():
    enqueue()
    enqueue(**running(10))
    enqueue(status="SUCCESSFUL")
    assert ox.count_jobs() == ox.JobCounts(queued=1, running=1)


def test_drain__runs_what_is_due_and_no_more():
    enqueue()
    enqueue()
    enqueue(run_after=timezone.now() + timedelta(hours=1))
    assert ox.drain() == 2
    assert ox.count_jobs() == ox.JobCounts(queued=1, running=0)


def test_drain__takes_over_from_a_worker_that_is_gone():
    enqueue(**running(-1), attempts=1)
    assert ox.drain() == 1


def test_drain__nothing_is_due():
    assert ox.drain() == 0


def test_prune__removes_old_rows_of_jobs_that_ended():
    old = timezone.now() - timedelta(days=2)
    for status in ("SUCCESSFUL", "FAILED", "LOST", "DISCARDED"):
        enqueue(status=status, finished_at=old)
    enqueue(status="SUCCESSFUL", finished_at=timezone.now())
    enqueue()
    assert ox.prune(timedelta(days=1)) == 4
    assert OxTask.objects.count() == 2


def test_prune__takes_a_bounded_batch(monkeypatch):
    monkeypatch.setattr(ox, "PRUNE_BATCH_ROWS", 2)
    for _ in range(3):
        enqueue(status="SUCCESSFUL", finished_at=timezone.now() - timedelta(days=2))
    assert [ox.prune(timedelta(days=1)) for _ in range(3)] == [2, 1, 0]


def test_prune__writes_nothing_where_there_is_nothing(django_assert_num_queries):
    with django_assert_num_queries(1) as queries:
        ox.prune(timedelta(days=1))
    assert queries[0]["sql"].startswith("SELECT")


def test_worker__is_the_configured_one():
    assert django_ox.worker_class() is ox.Worker


def test_worker__that_is_told_to_stop_hands_its_work_back(monkeypatch):
    told = []
    monkeypatch.setattr("vernier.media.process.request_stop", lambda: told.append(True))
    worker = ox.Worker()
    worker.request_stop()
    assert worker.stopping
    assert told == [True]


@pytest.fixture
def idle_worker():
    """Start a worker of the engine that looks for jobs as in production, in a thread."""
    worker = django_ox.Worker(poll_interval=0.01)
    thread = threading.Thread(target=worker.run)
    thread.start()
    yield worker
    worker.request_stop()
    thread.join()


@pytest.mark.django_db(transaction=True)
def test_worker__looks_for_jobs_without_writing(idle_worker):
    def look():
        path = connection.settings_dict["NAME"]
        # Not read: a process that closes a file gives up SQLite's locks on it.
        return [(file.st_mtime_ns, file.st_size) for file in (Path(f"{path}{end}").stat() for end in ("", "-wal"))]

    connection.ensure_connection()
    before = look()
    time.sleep(0.5)
    assert look() == before


@pytest.mark.django_db(transaction=True)
def test_worker__looks_for_jobs_without_holding_writers_up(idle_worker):
    for number in range(30):
        with transaction.atomic():
            enqueue(status="SUCCESSFUL")
        assert OxTask.objects.filter(status="SUCCESSFUL").count() == number + 1
    connections.close_all()
