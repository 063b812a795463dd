"""News for other apps: sent for each end of a Version, after the commit, and never in the way of the pipeline."""

from __future__ import annotations

from contextlib import contextmanager
from unittest import mock

import pytest
from django.core.files.base import ContentFile
from django.db import transaction

from tests.media.factory import image_bytes
from tests.media.render_in_process import open_renderer_in_process
from tests.media.worker import Clock, run_version, upload, version_of
from vernier.media import signals
from vernier.media.audit import AuditRound
from vernier.media.models import Version
from vernier.media.reconcile import reconcile
from vernier.media.repair import repair_version
from vernier.media.storages import DatabaseStorage, read, renditions_storage

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("staging_directory", "small_variants"),
]

# It passes for an image until it is decoded.
CORRUPT = b"\x89PNG\r\n\x1a\n" + b"\0" * 200


@pytest.fixture
def clock():
    return Clock()


def lose(version, variant):
    """Delete a file, and return its key and what was in it."""
    key = version.renditions.get(variant=variant).storage_key
    content = ContentFile(read(renditions_storage(), key))
    renditions_storage().delete(key)
    return key, content


def look_and_repair(clock):
    audit = AuditRound()
    audit.step(with_checksum=False)
    for version_id, _ in audit.by_version():
        repair_version(version_id, clock.now, open_renderer=open_renderer_in_process)


@contextmanager
def heard(signal):
    """Give the list of what the signal tells, each time as soon as a reader of the database can know it."""
    told = []

    def receive(sender, media_id, number, **_kwargs):
        assert not transaction.get_connection().in_atomic_block
        told.append((media_id, number))

    signal.connect(receive, weak=False)
    yield told
    signal.disconnect(receive)


def test_ready__is_told_once(clock):
    accepted = upload(image_bytes(), clock)
    with heard(signals.version_ready) as told:
        run_version(accepted, clock)
        run_version(accepted, clock)
    assert told == [(accepted.media_id, 1)]


def test_ready__receiver_that_raises_disturbs_nothing(clock, caplog):
    def broken(**_kwargs):
        raise RuntimeError("no network")

    signals.version_ready.connect(broken)
    version = run_version(upload(image_bytes(), clock), clock)
    signals.version_ready.disconnect(broken)
    assert (version.status, version.staging_key) == ("ready", "")
    assert "no network" in caplog.text


def test_failed__undecodable(clock):
    with heard(signals.version_failed) as told:
        version = run_version(upload(CORRUPT, clock), clock)
    assert (told, version.status) == ([(version.media_id, 1)], "failed")


def test_failed__original_lost(clock, staging_directory):
    accepted = upload(image_bytes(), clock)
    (staging_directory / version_of(accepted).staging_key).unlink()
    with heard(signals.version_failed) as told:
        assert run_version(accepted, clock).failure_code == "original-lost"
    assert told == [(accepted.media_id, 1)]


def test_failed__attempts_spent(clock):
    accepted = upload(image_bytes(), clock)
    Version.objects.update(attempts=99)
    with heard(signals.version_failed) as told:
        reconcile(clock.now)
    assert version_of(accepted).failure_code == "attempts-spent"
    assert told == [(accepted.media_id, 1)]


def test_failed__attempt_that_will_be_repeated_is_no_news(clock, monkeypatch):
    monkeypatch.setattr(DatabaseStorage, "save", mock.Mock(side_effect=OSError("disk full")))
    accepted = upload(image_bytes(), clock)
    with heard(signals.version_failed) as told:
        assert run_version(accepted, clock).status == "pending"
    assert told == []


def test_lost__is_told_when_the_first_file_is_given_up_and_not_again(clock):
    version = run_version(upload(image_bytes(), clock), clock)
    with heard(signals.renditions_lost) as told:
        lose(version, "photo")
        look_and_repair(clock)
        lose(version, "fallback")
        clock.tick(4000)
        look_and_repair(clock)
    assert told == [(version.media_id, 1)]


def test_lost__is_told_again_after_the_files_were_back(clock):
    version = run_version(upload(image_bytes(), clock), clock)
    with heard(signals.renditions_lost) as told:
        for _ in range(2):
            kept = lose(version, "photo")
            look_and_repair(clock)
            renditions_storage().save(*kept)
            look_and_repair(clock)
    assert told == [(version.media_id, 1)] * 2


def test_lost__row_without_a_trace_is_told_once(clock):
    version = run_version(upload(image_bytes(), clock), clock)
    lose(version, "photo")
    version.renditions.filter(variant="photo").delete()
    with heard(signals.renditions_lost) as told:
        look_and_repair(clock)
        look_and_repair(clock)
    assert told == [(version.media_id, 1)]
