"""The state machine holds, and it fails where the pipeline is broken on purpose."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.media.factory import SMALL_VARIANTS
from tests.media.machine import CORRUPT, ORIGINALS, Pipeline
from vernier.media import clean_up, finish
from vernier.media import process as processing
from vernier.media.models import Rendition, Version
from vernier.media.transitions import VersionQuerySet
from vernier.media.variants import EXTENSIONS

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLES = int(os.environ.get("MACHINE_EXAMPLES", "40"))
STEPS = 30


@pytest.fixture(autouse=True)
def _small_and_the_same_each_time(settings, tmp_path, monkeypatch):
    # A failing order of steps must fail again when it is repeated, and the log of 10,000 steps helps nobody.
    monkeypatch.setattr(finish.random, "uniform", lambda _low, high: high)
    logging.disable(logging.INFO)
    settings.VERNIER_MEDIA = {"VARIANTS": SMALL_VARIANTS, "MAX_ATTEMPTS": 4}
    settings.STORAGES = {
        **settings.STORAGES,
        "staging": {
            "BACKEND": "vernier.media.storages.DurableFileSystemStorage",
            "OPTIONS": {"location": str(tmp_path)},
        },
    }
    yield
    logging.disable(logging.NOTSET)


def run(*, examples: int = EXAMPLES, phases: tuple[Phase, ...] = tuple(Phase)) -> None:
    run_state_machine_as_test(
        Pipeline,
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=True,
            database=None,
            phases=phases,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )


def must_fail() -> None:
    """One of the machine's own assertions finds the mutation; no time is spent on shrinking what it is found with."""
    with pytest.raises(AssertionError) as found:
        run(examples=1000, phases=(Phase.explicit, Phase.generate))
    assert found.traceback[-1].path.name == "machine.py"


@contextmanager
def must_fail_after_steps() -> Iterator[Pipeline]:
    """The same for an order of steps that a search finds seldom: what it leads to is seen in the files or at rest."""
    machine = Pipeline()
    machine.first_upload()
    with pytest.raises(AssertionError) as found:
        yield machine
        machine.ready_means_every_file_is_there()
        machine.teardown()
    assert found.traceback[-1].path.name == "machine.py"


def test_pipeline__any_order_of_faults():
    run()


def test_machine__finds_missing_fencing():
    def unfenced(self: VersionQuerySet, **_kwargs: object) -> VersionQuerySet:
        return self.filter(status=Version.Status.PROCESSING)

    with mock.patch.object(VersionQuerySet, "held", unfenced):
        must_fail()


def test_machine__finds_ready_before_verified():
    honest = Version.missing_variants

    def hasty(self: Version):
        missing = honest(self)
        return () if missing is not None and len(missing) == 1 else missing

    with mock.patch.object(Version, "missing_variants", hasty):
        must_fail()


def test_machine__finds_row_before_file():
    honest = processing._store

    def row_first(lease, variant, rendered):
        key = lease.version.key_for(variant.name, EXTENSIONS[rendered.format])
        with transaction.atomic():
            Rendition.objects.create(
                version=lease.version,
                variant=variant.name,
                format=rendered.format,
                width=rendered.size.width,
                height=rendered.size.height,
                byte_size=len(rendered.data),
                sha256=hashlib.sha256(rendered.data).hexdigest(),
                storage_key=key,
                created_at=lease.clock(),
            )
        stored = honest(lease, variant, rendered)
        Rendition.objects.filter(storage_key=key).delete()
        return stored

    with mock.patch.object(processing, "_store", row_first), must_fail_after_steps() as machine:
        machine.deliver(choice=0, crash=False)
        machine.step(which=0, times=2, crash="before store")


def test_machine__finds_a_predecessor_that_is_not_restored():
    with mock.patch.object(finish, "restore_predecessor"), must_fail_after_steps() as machine:
        machine.replace(CORRUPT, choice=0)


def test_machine__finds_a_delete_that_is_undone():
    honest = finish.lock_media

    def blind(media_id):
        media = honest(media_id)
        media.deleted_at = None
        return media

    undead = mock.patch("vernier.media.delete.supersede_all")
    with undead, mock.patch.object(finish, "lock_media", blind):
        must_fail()


def test_machine__finds_files_removed_before_their_rows():
    def files_first(media_id, number, *, now):
        version = Version.objects.filter(media_id=media_id, number=number).first()
        if version is not None and version.cleanup_at is not None:
            clean_up._remove_files(version.directory)
        honest(media_id, number, now=now)

    honest = clean_up.clean_up_version
    with mock.patch("tests.media.worker.clean_up_version", files_first), must_fail_after_steps() as machine:
        machine.run_a_job_whole(choice=0)
        machine.replace(ORIGINALS[1], choice=0)
        machine.run_a_job_whole(choice=0)
        machine.time_passes(100_000)
        machine.deliver(choice=0, crash=True)
