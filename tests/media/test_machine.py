"""The state machine holds, and it fails where the pipeline is broken on purpose."""

from __future__ import annotations

import hashlib
import logging
from unittest import mock

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.media.factory import SMALL_VARIANTS
from tests.media.machine import Pipeline
from vernier.media import finish
from vernier.media import process as processing
from vernier.media.models import Rendition, Version, VersionQuerySet
from vernier.media.variants import EXTENSIONS

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLES = 60
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
            suppress_health_check=list(HealthCheck),
        ),
    )


def must_fail(reason: str) -> None:
    """The mutation is found by that invariant; no time is spent on shrinking what it is found with."""
    with pytest.raises(AssertionError, match=reason):
        run(examples=200, phases=(Phase.explicit, Phase.generate))


def test_pipeline__any_order_of_faults():
    run()


def test_machine__finds_missing_fencing():
    def unfenced(self: VersionQuerySet, **_kwargs: object) -> VersionQuerySet:
        return self.filter(status=Version.Status.PROCESSING)

    with mock.patch.object(VersionQuerySet, "held", unfenced):
        must_fail("a worker wrote without its lease")


def test_machine__finds_ready_before_verified():
    honest = Version.missing_variants

    def hasty(self: Version):
        missing = honest(self)
        return () if missing is not None and len(missing) == 1 else missing

    with mock.patch.object(Version, "missing_variants", hasty):
        must_fail("Ready without")


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

    with mock.patch.object(processing, "_store", row_first):
        must_fail("a row without its file")
