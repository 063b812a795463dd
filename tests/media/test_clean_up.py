"""Files go when nobody needs them any more: after the grace, after caches were told, and completely."""

from __future__ import annotations

from datetime import timedelta
from unittest import mock
from uuid import uuid4

import pytest
from django_ox.models import OxTask

from tests.media.factory import author, image_bytes
from tests.media.worker import Clock, run_due, run_version, upload, version_of
from vernier.media.clean_up import clean_up_version
from vernier.media.conf import media_settings
from vernier.media.delete import delete_media
from vernier.media.exceptions import LeaseLost, MediaNotFound
from vernier.media.lease import claim
from vernier.media.models import Blob, Media, Rendition, Version
from vernier.media.process import process
from vernier.media.reconcile import reconcile, retry_refused_cleanups
from vernier.media.storages import DatabaseStorage, staging_storage

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("staging_directory", "small_variants"),
]

RED, BLUE = (image_bytes(colour=colour) for colour in [(250, 0, 0), (0, 0, 250)])
DAY = 24 * 3600
PURGED = []


def purge(media, versions):
    PURGED.append((media.pk, [version.number for version in versions]))


def refuse(media, versions):
    raise ConnectionError("the cache does not answer")


@pytest.fixture
def clock():
    PURGED.clear()
    return Clock()


@pytest.fixture
def replaced(clock):
    """A Media of which the second Version is served and the first waits for its clean-up."""
    first = upload(RED, clock)
    run_due(clock)
    run_version(upload(BLUE, clock, replaces=first.media_id), clock)
    OxTask.objects.filter(task_path__endswith="process_version").delete()
    return first


def numbers_of_files():
    return {key.split("/")[2] for key in Blob.objects.values_list("key", flat=True)}


def test_r3__files_of_the_old_version_stay_for_the_grace(replaced, clock):
    clock.tick(DAY - 1)
    assert run_due(clock) == 0
    assert numbers_of_files() == {"v1", "v2"}
    clock.tick(2)
    assert run_due(clock) == 1
    assert numbers_of_files() == {"v2"}
    assert set(Rendition.objects.values_list("version__number", flat=True)) == {2}


def test_clean_up__twice_is_no_error(replaced, clock):
    clock.tick(DAY + 1)
    run_due(clock)
    before = list(Version.objects.values())
    clean_up_version(replaced.media_id, 1, now=clock.now)
    assert list(Version.objects.values()) == before


def test_clean_up__never_touches_what_is_served(replaced, clock):
    clock.tick(100 * DAY)
    clean_up_version(replaced.media_id, 2, now=clock.now)
    assert "v2" in numbers_of_files()


def test_clean_up__caches_are_told_first(replaced, clock, settings):
    settings.VERNIER_MEDIA = {**settings.VERNIER_MEDIA, "PURGE": f"{__name__}.purge"}
    clock.tick(DAY + 1)
    run_due(clock)
    assert [(replaced.media_id, [1])] == PURGED


def test_clean_up__nothing_goes_while_a_cache_may_have_it(replaced, clock, settings):
    settings.VERNIER_MEDIA = {**settings.VERNIER_MEDIA, "PURGE": f"{__name__}.refuse"}
    clock.tick(DAY + 1)
    with pytest.raises(ConnectionError):
        run_due(clock)
    assert numbers_of_files() == {"v1", "v2"}
    settings.VERNIER_MEDIA = {**settings.VERNIER_MEDIA, "PURGE": f"{__name__}.purge"}
    assert run_due(clock) == 0
    clock.tick(601)
    assert run_due(clock) == 1
    assert numbers_of_files() == {"v2"}


def test_clean_up__lost_job_is_rung_again_but_not_in_a_flood(replaced, clock):
    OxTask.objects.all().delete()
    clock.tick(DAY + 300)
    assert [reconcile(clock.now).cleanups for _ in range(3)] == [1, 0, 0]
    run_due(clock)
    assert numbers_of_files() == {"v2"}
    clock.tick(DAY)
    assert reconcile(clock.now).cleanups == 0


@pytest.mark.parametrize("call", range(3))
def test_clean_up__killed_anywhere_is_done_again(replaced, clock, call):
    """The process dies at one file; rows went first, so that no row names what is gone."""
    clock.tick(DAY + 1)
    delete, calls = DatabaseStorage.delete, []

    def dying(self, name):
        if len(calls) == call:
            raise SystemExit
        calls.append(name)
        delete(self, name)

    with mock.patch.object(DatabaseStorage, "delete", dying), pytest.raises(SystemExit):
        run_due(clock)
    assert set(Rendition.objects.values_list("version__number", flat=True)) == {2}
    clock.tick(300)
    reconcile(clock.now)
    run_due(clock)
    assert numbers_of_files() == {"v2"}


def test_s1__file_that_cannot_be_deleted_keeps_none_of_the_others(replaced, clock):
    clock.tick(DAY + 1)
    delete = DatabaseStorage.delete

    def stubborn(self, name):
        if "photo" in name:
            raise PermissionError(name)
        delete(self, name)

    with mock.patch.object(DatabaseStorage, "delete", stubborn), pytest.raises(PermissionError):
        run_due(clock)
    left = [key for key in Blob.objects.values_list("key", flat=True) if "/v1/" in key]
    assert len(left) == 1
    clock.tick(601)
    run_due(clock)
    assert numbers_of_files() == {"v2"}


def test_clean_up__failed_version_leaves_no_rendition(clock):
    first = upload(image_bytes(200, 100), clock)
    saved = DatabaseStorage.save

    def once(self, name, content):
        if Blob.objects.exists():
            raise OSError("broken")
        return saved(self, name, content)

    with mock.patch.object(DatabaseStorage, "save", once):
        for _ in range(9):
            run_due(clock)
            clock.tick(1000)
    assert (version_of(first).status, Rendition.objects.count()) == ("failed", 1)
    clock.tick(8 * DAY)
    run_due(clock)
    assert (Rendition.objects.count(), Blob.objects.count()) == (0, 0)


def test_delete__everything_goes_but_the_tombstone(replaced, clock):
    delete_media(replaced.media_id, owner=author(), now=clock.now)
    media = Media.objects.get()
    assert (media.current, Rendition.objects.count()) == (None, 0)
    run_due(clock)
    assert (Blob.objects.count(), Version.objects.count(), Media.objects.count()) == (0, 0, 1)
    assert staging_storage().listdir("")[1] == []


def test_delete__twice_is_no_error(replaced, clock):
    for _ in range(2):
        delete_media(replaced.media_id, owner=author(), now=clock.now)
    assert OxTask.objects.filter(task_path__endswith="clean_up_media").count() == 1


def test_delete__what_is_not_ones_own_is_not_found(replaced, clock):
    with pytest.raises(MediaNotFound):
        delete_media(replaced.media_id, owner=author("bob"), now=clock.now)
    with pytest.raises(MediaNotFound):
        delete_media(uuid4(), owner=author(), now=clock.now)
    assert Media.objects.get().deleted_at is None


def test_delete__during_a_render_is_not_undone(clock):
    first = upload(RED, clock)
    lease = claim(first.media_id, 1, conf=media_settings(), clock=clock)
    delete_media(first.media_id, owner=author(), now=clock.now)
    with pytest.raises(LeaseLost):
        lease.check()
    run_due(clock)
    clock.tick(10 * DAY)
    reconcile(clock.now)
    run_due(clock)
    assert (Rendition.objects.count(), Blob.objects.count(), OxTask.objects.count()) == (0, 0, 0)
    assert Media.objects.get().current is None


def test_delete__of_what_never_ran_takes_the_staged_original(clock):
    first = upload(RED, clock)
    delete_media(first.media_id, owner=author(), now=clock.now)
    run_due(clock)
    assert (staging_storage().listdir("")[1], Version.objects.count()) == ([], 0)


def test_delete__retry_of_the_upload_does_not_bring_it_back(clock):
    first = upload(RED, clock, key="k")
    delete_media(first.media_id, owner=author(), now=clock.now)
    run_due(clock)
    again = upload(RED, clock, key="k")
    assert (again.media_id, again.created) == (first.media_id, False)
    assert (Version.objects.count(), staging_storage().listdir("")[1]) == (0, [])


def test_r2__rolled_back_delete_cleans_nothing_up(replaced, clock):
    before = OxTask.objects.count()
    broken = mock.patch("vernier.media.delete.ring_clean_up_media", side_effect=ZeroDivisionError)
    with broken, pytest.raises(ZeroDivisionError):
        delete_media(replaced.media_id, owner=author(), now=clock.now)
    run_due(clock)
    assert (OxTask.objects.count(), Media.objects.get().deleted_at) == (before, None)
    assert numbers_of_files() == {"v1", "v2"}


def test_r7__job_of_what_is_gone_is_a_quiet_no_op(replaced, clock):
    delete_media(replaced.media_id, owner=author(), now=clock.now)
    run_due(clock)
    process(replaced.media_id, replaced.number, clock=clock)
    assert (Version.objects.count(), Blob.objects.count()) == (0, 0)


def test_r6__deleted_image_is_absent_at_once_and_caches_are_told(replaced, clock, settings):
    settings.VERNIER_MEDIA = {**settings.VERNIER_MEDIA, "PURGE": f"{__name__}.purge"}
    delete_media(replaced.media_id, owner=author(), now=clock.now)
    assert (Media.objects.get().current, Rendition.objects.count()) == (None, 0)
    run_due(clock)
    assert [(replaced.media_id, [1, 2])] == PURGED
    assert Blob.objects.count() == 0


def test_delete__lost_clean_up_is_rung_again(replaced, clock):
    delete_media(replaced.media_id, owner=author(), now=clock.now)
    OxTask.objects.all().delete()
    assert reconcile(clock.now + timedelta(seconds=300)).cleanups == 1
    clock.tick(300)
    run_due(clock)
    assert Blob.objects.count() == 0


def test_clean_up__is_rung_at_a_doubling_interval_while_no_worker_runs(replaced, clock):
    OxTask.objects.all().delete()
    clock.tick(DAY)
    rung = [minute for minute in range(24 * 60) if reconcile(clock.now + timedelta(minutes=minute)).cleanups]
    assert 1 <= len(rung) < 12


def test_clean_up__refused_by_a_cache_is_seen_and_tried_at_once_when_asked(replaced, clock, settings):
    settings.VERNIER_MEDIA = {**settings.VERNIER_MEDIA, "PURGE": f"{__name__}.refuse"}
    delete_media(replaced.media_id, owner=author(), now=clock.now)
    with pytest.raises(ConnectionError):
        run_due(clock)
    assert Media.objects.refused().count() == 1
    settings.VERNIER_MEDIA = {**settings.VERNIER_MEDIA, "PURGE": None}
    assert retry_refused_cleanups(clock.now) == 1
    run_due(clock)
    assert (Blob.objects.count(), Media.objects.refused().count()) == (0, 0)


def test_clean_up__refused_by_a_cache_the_log_says_why(replaced, clock, settings, caplog):
    settings.VERNIER_MEDIA = {**settings.VERNIER_MEDIA, "PURGE": f"{__name__}.refuse"}
    clock.tick(DAY + 1)
    with pytest.raises(ConnectionError):
        run_due(clock)
    delete_media(replaced.media_id, owner=author(), now=clock.now)
    with pytest.raises(ConnectionError):
        run_due(clock)
    told = [record.getMessage() for record in caplog.records if record.name == "vernier.media"]
    assert sum(f"{replaced.media_id}: ConnectionError: the cache does not answer" in line for line in told) == 2


def test_clean_up__at_a_time_that_is_over_again_is_done_all_the_same(replaced, clock):
    Version.objects.filter(number=1).update(cleanup_at=clock.now + timedelta(days=365))
    OxTask.objects.all().delete()
    assert reconcile(clock.now).cleanups == 1
    run_due(clock)
    assert numbers_of_files() == {"v2"}


def test_delete__at_a_time_that_is_over_again_is_done_all_the_same(replaced, clock):
    delete_media(replaced.media_id, owner=author(), now=clock.now + timedelta(days=365))
    run_due(clock)
    assert Blob.objects.count() == 0
