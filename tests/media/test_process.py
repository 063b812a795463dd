"""What becomes of a Version when its job runs: once, twice, too late, and when something breaks."""

from __future__ import annotations

import errno
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest
from django.core.files.base import ContentFile
from django.db import OperationalError
from django_ox.models import OxTask
from PIL import Image

from tests.media.factory import NOW, author, image_bytes
from tests.media.render_in_process import open_renderer_in_process
from vernier.media import accept_upload, lease
from vernier.media.conf import media_settings
from vernier.media.exceptions import TransientError
from vernier.media.failures import FailureCode
from vernier.media.finish import backoff
from vernier.media.lease import claim
from vernier.media.models import Blob, Media, Rendition, Version
from vernier.media.process import process
from vernier.media.reconcile import reconcile
from vernier.media.storages import DatabaseStorage, originals_storage, renditions_storage

CORPUS = Path(__file__).parent.parent / "corpus"

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("staging_directory", "small_variants"),
]


class Clock:
    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now

    def tick(self, seconds):
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock():
    return Clock()


def upload(content=None):
    accepted = accept_upload([content or image_bytes()], owner=author())
    OxTask.objects.all().delete()
    return Version.objects.get(media_id=accepted.media_id, number=accepted.number)


def run(version, clock, open_renderer=open_renderer_in_process):
    process(version.media_id, version.number, open_renderer=open_renderer, clock=clock)
    version.refresh_from_db()
    return version


def failing(error, *, at="render"):
    """A renderer that works until it is asked for that."""

    @contextmanager
    def open_renderer(*args, **kwargs):
        with open_renderer_in_process(*args, **kwargs) as renderer:
            setattr(renderer, at, mock.Mock(side_effect=error))
            yield renderer

    return open_renderer


def test_process__makes_a_version_ready_and_served(clock):
    version = run(upload(image_bytes(200, 100)), clock)
    assert version.status == "ready"
    assert Media.objects.get().current == version
    assert {rendition.variant: (rendition.width, rendition.height) for rendition in version.renditions.all()} == {
        "photo": (64, 32),
        "w24": (24, 12),
        "fallback": (64, 32),
    }


def test_process__renditions_decode_to_what_their_rows_say(clock):
    run(upload(image_bytes(200, 100)), clock)
    for rendition in Rendition.objects.all():
        with renditions_storage().open(rendition.storage_key) as stored, Image.open(stored) as image:
            image.load()
            assert (image.format.lower(), image.size) == (rendition.format, (rendition.width, rendition.height))


def test_process__placeholder_is_there_before_the_first_rendition(clock):
    broken = failing(TransientError(FailureCode.OUT_OF_MEMORY))
    version = run(upload(image_bytes(200, 100, kind="PNG", colour=(10, 20, 30))), clock, broken)
    assert (version.status, version.placeholder) == ("pending", "#0a141e")


def test_process__narrow_image_gets_no_wider_steps(clock):
    version = run(upload(image_bytes(20, 20)), clock)
    assert set(version.renditions.values_list("variant", flat=True)) == {"photo", "fallback"}


def test_process__original_leaves_staging_after_ready(clock, staging_directory):
    version = run(upload(), clock)
    assert (list(staging_directory.iterdir()), version.staging_key) == ([], "")


def test_process__second_delivery_changes_nothing(clock):
    version = run(upload(), clock)
    before = list(Version.objects.values()), list(Rendition.objects.values()), list(Blob.objects.values())
    clock.tick(10_000)
    run(version, clock)
    assert before == (list(Version.objects.values()), list(Rendition.objects.values()), list(Blob.objects.values()))


def test_j1__job_without_its_row_is_a_quiet_no_op(clock):
    process(upload().media_id, 7, clock=clock)


def test_process__leaves_a_version_that_another_worker_holds(clock):
    version = upload()
    claim(version.media_id, 1, conf=media_settings(), clock=clock)
    clock.tick(59)
    assert run(version, clock).status == "processing"
    clock.tick(2)
    assert run(version, clock).status == "ready"


def test_process__crash_loses_no_rendition_that_was_made(clock):
    version, calls = upload(), []

    @contextmanager
    def dies_at_the_second(*args, **kwargs):
        with open_renderer_in_process(*args, **kwargs) as renderer:
            render = renderer.render

            def counted(variant):
                calls.append(variant.name)
                if len(calls) == 2:
                    raise SystemExit
                return render(variant)

            renderer.render = counted
            yield renderer

    with pytest.raises(SystemExit):
        run(version, clock, dies_at_the_second)
    clock.tick(61)
    assert run(version, clock, dies_at_the_second).status == "ready"
    assert calls.count("photo") == 1


def test_process__adopts_its_own_file_after_a_crash_before_the_row(clock):
    version = upload()
    with mock.patch("vernier.media.process._verify", side_effect=SystemExit), pytest.raises(SystemExit):
        run(version, clock)
    assert (Blob.objects.count(), Rendition.objects.count()) == (1, 0)
    clock.tick(61)
    assert run(version, clock).status == "ready"
    assert set(Blob.objects.values_list("key", flat=True)) == set(
        Rendition.objects.values_list("storage_key", flat=True)
    )


def test_process__never_overwrites_other_bytes(clock):
    version = upload()
    key = version.key_for("photo", "avif")
    renditions_storage().save(key, ContentFile(b"somebody else's"))
    assert run(version, clock).status == "ready"
    assert bytes(Blob.objects.get(key=key).content) == b"somebody else's"
    assert version.renditions.get(variant="photo").storage_key == version.key_for("photo.1", "avif")


def test_j2__two_workers_at_once_lose_no_rendition_of_each_other(clock):
    """The second takes over in the middle of the first, which goes on all the same."""
    version = upload(image_bytes(200, 100))

    def taken_over(render):
        def slow(variant):
            if variant.name == "w24":
                clock.tick(61)
                assert run(version, clock).status == "ready"
            return render(variant)

        return slow

    @contextmanager
    def first_worker(*args, **kwargs):
        with open_renderer_in_process(*args, **kwargs) as renderer:
            renderer.render = taken_over(renderer.render)
            yield renderer

    run(version, clock, first_worker)
    assert sorted(version.renditions.values_list("variant", flat=True)) == ["fallback", "photo", "w24"]
    assert all(renditions_storage().exists(key) for key in version.renditions.values_list("storage_key", flat=True))


def test_j3__file_that_reads_back_wrong_makes_no_row(clock):
    version = upload()
    with mock.patch("vernier.media.process.read", return_value=b"rotten"):
        run(version, clock)
    assert (version.status, version.failure_code) == ("pending", "storage-unavailable")
    assert not version.renditions.exists()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ((CORPUS / "zero_width.png").read_bytes(), "undecodable"),
        (image_bytes(400, 300, kind="PNG")[:300], "truncated"),
    ],
)
def test_j8__permanent_failure_ends_at_once_and_is_not_tried_again(clock, staging_directory, content, code):
    version = run(upload(content), clock)
    assert (version.status, version.failure_code, version.attempts) == ("failed", code, 1)
    assert list(staging_directory.iterdir()) == []
    assert not OxTask.objects.exists()
    reconcile(NOW + timedelta(days=30))
    assert not OxTask.objects.exists()


def test_process__too_many_pixels(clock, settings):
    settings.VERNIER_MEDIA = {**settings.VERNIER_MEDIA, "PIXELS_MAX": 1000}
    assert run(upload(image_bytes(100, 100)), clock).failure_code == "too-many-pixels"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "storage-unavailable"),
        (OperationalError("database or disk is full"), "storage-unavailable"),
        (MemoryError(), "out-of-memory"),
    ],
)
def test_process__passing_failure_is_retried_later(clock, error, code):
    version = upload()
    with mock.patch.object(DatabaseStorage, "save", side_effect=error):
        run(version, clock)
    assert (version.status, version.failure_code, version.attempts) == ("pending", code, 1)
    job = OxTask.objects.get()
    assert NOW < job.run_after == version.next_attempt_at <= NOW + timedelta(seconds=5)
    assert run(version, clock).status == "pending"
    clock.tick(6)
    assert run(version, clock).status == "ready"
    assert (version.failure_code, version.failure_detail) == ("", "")


def test_process__retries_are_bounded_and_the_original_is_kept_a_while(clock, staging_directory):
    version = upload()
    with mock.patch.object(DatabaseStorage, "save", side_effect=OSError(errno.ENOSPC, "full")):
        for _ in range(10):
            run(version, clock)
            clock.tick(1000)
    assert (version.status, version.failure_code, version.attempts) == ("failed", "storage-unavailable", 4)
    assert len(list(staging_directory.iterdir())) == 1
    assert version.staging_delete_at == version.failed_at + timedelta(days=7)


@pytest.mark.parametrize(("tries_max", "tries"), [(2, 2), (3, 3)])
def test_j7__file_that_crashes_the_decoder_gets_few_tries(clock, tries_max, tries):
    version = upload()
    crash = TransientError(FailureCode.DECODER_CRASHED, "SIGSEGV", tries_max=tries_max)
    for _ in range(6):
        run(version, clock, failing(crash))
        clock.tick(1000)
    assert (version.status, version.failure_code, version.attempts) == ("failed", "decoder-crashed", tries)


def test_process__unforeseen_error_is_recorded_raised_and_retried(clock):
    version = upload()
    with pytest.raises(ZeroDivisionError):
        run(version, clock, failing(ZeroDivisionError("odd")))
    version.refresh_from_db()
    assert (version.status, version.failure_code) == ("pending", "")
    assert "odd" in version.failure_detail
    assert OxTask.objects.count() == 1


def test_process__lost_original_fails(clock, staging_directory):
    version = upload()
    next(staging_directory.iterdir()).unlink()
    assert (run(version, clock).status, version.failure_code) == ("failed", "original-lost")


def test_process__changed_original_fails(clock, staging_directory):
    version = upload()
    next(staging_directory.iterdir()).write_bytes(image_bytes(9, 9))
    assert (run(version, clock).status, version.failure_code) == ("failed", "original-lost")


def test_process__lost_original_is_not_missed_when_all_is_rendered(clock, staging_directory):
    version = upload()
    with mock.patch("vernier.media.process.finish", side_effect=SystemExit), pytest.raises(SystemExit):
        run(version, clock)
    next(staging_directory.iterdir()).unlink()
    clock.tick(61)
    assert run(version, clock).status == "ready"


def test_process__late_worker_can_write_nothing(clock):
    version = upload()
    late = claim(version.media_id, 1, conf=media_settings(), clock=clock)
    clock.tick(61)
    run(version, clock)
    before = list(Version.objects.values())
    with pytest.raises(lease.LeaseLost):
        late.renew()
    assert not late.held().hand_back(now=clock())
    assert list(Version.objects.values()) == before


def test_process__told_to_stop_gives_the_attempt_back(clock, monkeypatch):
    version, stop = upload(), lease.threading.Event()
    monkeypatch.setattr(lease, "_stop_requested", stop)

    @contextmanager
    def told_while_rendering(*args, **kwargs):
        with open_renderer_in_process(*args, **kwargs) as renderer:
            stop.set()
            yield renderer

    run(version, clock, told_while_rendering)
    assert (version.status, version.attempts, OxTask.objects.count()) == ("pending", 0, 1)
    run(version, clock)
    assert version.status == "pending"
    stop.clear()
    assert run(version, clock).status == "ready"


def test_process__lease_is_renewed_while_rendering(clock):
    version = upload()

    @contextmanager
    def slow(*args, on_tick, **kwargs):
        with open_renderer_in_process(*args, on_tick=on_tick, **kwargs) as renderer:
            for _ in range(10):
                clock.tick(30)
                on_tick()
            yield renderer

    assert run(version, clock, slow).status == "ready"


def test_process__deleted_media_is_left_alone(clock):
    version = upload()
    Media.objects.update(deleted_at=NOW)
    assert run(version, clock).status == "pending"


def test_process__media_deleted_while_rendering_is_not_brought_back(clock):
    version = upload()

    @contextmanager
    def deleted_meanwhile(*args, **kwargs):
        with open_renderer_in_process(*args, **kwargs) as renderer:
            Media.objects.update(deleted_at=NOW)
            yield renderer

    run(version, clock, deleted_meanwhile)
    assert Media.objects.get().current is None


def test_process__keeps_the_original_where_that_is_asked(clock, settings, staging_directory):
    settings.VERNIER_MEDIA = {**settings.VERNIER_MEDIA, "KEEP_ORIGINALS": True}
    content = image_bytes(70, 50)
    version = run(upload(content), clock)
    assert (version.status, list(staging_directory.iterdir())) == ("ready", [])
    assert version.original_key == version.key_for("original", "jpg")
    with originals_storage().open(version.original_key) as kept:
        assert kept.read() == content


def test_process__same_original_gives_the_same_bytes_whatever_happened(clock):
    content = image_bytes(300, 200, colour=(90, 120, 30))
    straight, disturbed = run(upload(content), clock), upload(content)
    for _ in range(3):
        with mock.patch.object(DatabaseStorage, "save", side_effect=_once_then_full()):
            run(disturbed, clock)
        clock.tick(1000)
    assert run(disturbed, clock).status == "ready"
    assert dict(straight.renditions.values_list("variant", "sha256")) == dict(
        disturbed.renditions.values_list("variant", "sha256")
    )


def _once_then_full():
    save, calls = DatabaseStorage().save, []

    def saves(name, content):
        calls.append(name)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, "full")
        return save(name, content)

    return saves


def test_backoff__doubles_to_a_limit_and_varies():
    conf = media_settings()
    for attempts, longest in [(1, 5), (2, 10), (3, 20), (50, conf.backoff_max_seconds)]:
        delays = [backoff(attempts, conf).total_seconds() for _ in range(50)]
        assert longest / 2 <= min(delays) < max(delays) <= longest


def test_failures__each_has_a_sentence():
    assert all(label.endswith(".") for label in FailureCode.labels)


def test_claim__reading_of_the_clock_that_is_a_little_old_steals_no_lease(clock):
    version = upload()
    assert claim(version.media_id, 1, conf=media_settings(), clock=clock)
    clock.tick(-0.005)
    assert claim(version.media_id, 1, conf=media_settings(), clock=clock) is None


def test_process__told_to_stop_before_the_claim_leaves_a_job(clock, monkeypatch):
    version = upload()
    stop = lease.threading.Event()
    stop.set()
    monkeypatch.setattr(lease, "_stop_requested", stop)
    run(version, clock)
    assert (version.status, version.attempts, OxTask.objects.count()) == ("pending", 0, 1)


def test_process__strikes_of_different_kinds_do_not_add_up(clock):
    version = upload()
    for code in (FailureCode.OUT_OF_MEMORY, FailureCode.DECODER_CRASHED, FailureCode.TIME_LIMIT):
        run(version, clock, failing(TransientError(code, tries_max=2)))
        clock.tick(1000)
    assert (version.status, version.strikes) == ("pending", 1)


def test_process__end_that_cannot_be_written_lets_the_lease_run_out(clock):
    version = upload()
    full = OperationalError("database or disk is full")
    with mock.patch("vernier.media.process.retry", side_effect=full):
        run(version, clock, failing(OSError(errno.ENOSPC, "full")))
    assert version.status == "processing"
    clock.tick(61)
    assert run(version, clock).status == "ready"
