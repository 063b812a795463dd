"""What is wrong with a project's settings is said at start, by id and with what is valid."""

from __future__ import annotations

import pytest
from django.core.files.storage import storages

from vernier.media.checks import check_media
from vernier.media.variants import Variant

WIDE = Variant(name="wide", format="webp", width_max=99, height_max=99, quality=80)
NARROW = Variant(name="narrow", format="webp", width_max=9, height_max=99, quality=80, narrower=True)


def found():
    return [(message.id, message.msg) for message in check_media(None)]


def directory(path, **options):
    backend = "vernier.media.storages.DurableFileSystemStorage"
    return {"BACKEND": backend, "OPTIONS": {"location": path, **options}}


def test_check__settings_that_are_right_are_not_complained_of(settings, tmp_path):
    settings.STORAGES = {**settings.STORAGES, "staging": directory(tmp_path)}
    settings.VERNIER_MEDIA = {
        "VARIANTS": [WIDE, NARROW],
        "UPLOAD_TYPES": ["gif"],
        "CLEANUP_GRACE_SECONDS": 0,
        "PURGE": "tests.media.test_checks.found",
        "LIVE_JOBS": "vernier.engines.ox.live_jobs",
    }
    assert found() == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("VARIANTS", None),
        ("VARIANTS", []),
        ("VARIANTS", "wide"),
        ("VARIANTS", [{"name": "wide"}]),
        ("VARIANTS", [WIDE, WIDE]),
        ("VARIANTS", [NARROW, WIDE]),
        ("UPLOAD_TYPES", None),
        ("UPLOAD_TYPES", []),
        ("UPLOAD_TYPES", "jpeg"),
        ("UPLOAD_TYPES", ["jpg"]),
        ("UPLOAD_TYPES", ["heic"]),
        ("PIXELS_MAX", "100"),
        ("LEASE_SECONDS", 0),
        ("UPLOAD_KEY_SECONDS", -1),
        ("CLEANUP_GRACE_SECONDS", -1),
        ("BACKOFF_MAX_SECONDS", 1),
        ("PURGE", print),
        ("PURGE", "purge"),
        ("LIVE_JOBS", "vernier.engines.ox.NETWORK_QUEUE"),
        ("COLOUR", "blue"),
    ],
)
def test_check__a_wrong_value_is_named(settings, key, value):
    settings.VERNIER_MEDIA = {key: value}
    [(check_id, message)] = found()
    assert check_id == "vernier_media.E001"
    assert key in message


def test_check__a_store_is_missing_or_cannot_be_imported(settings):
    settings.STORAGES = {"renditions": {"BACKEND": "nowhere.Storage"}}
    (first, staging), (second, renditions) = found()
    assert (first, second) == ("vernier_media.E002", "vernier_media.E002")
    assert "'staging'" in staging
    assert "nowhere" in renditions


def test_check__a_store_may_not_overwrite(settings):
    settings.STORAGES = {**settings.STORAGES, "renditions": {"BACKEND": "django.core.files.storage.InMemoryStorage"}}
    assert [check_id for check_id, _ in found()] == ["vernier_media.E003"]


@pytest.mark.parametrize("below", ["", "staging"])
def test_check__originals_are_not_published(settings, tmp_path, below):
    settings.MEDIA_ROOT = tmp_path
    settings.STORAGES = {
        **settings.STORAGES,
        "staging": directory(tmp_path / below),
        "renditions": directory(tmp_path / "images"),
    }
    [(check_id, message)] = found()
    assert check_id == "vernier_media.E004"
    assert "'staging'" in message


def test_check__a_store_without_a_location_is_where_media_root_is(settings):
    settings.STORAGES = {**settings.STORAGES, "staging": directory(None)}
    assert storages["staging"].location
    assert [check_id for check_id, _ in found()] == ["vernier_media.E004"]


@pytest.mark.parametrize(
    ("tasks", "reason"),
    [
        ({}, "default"),
        ({"default": {"BACKEND": "nowhere.Backend"}}, "nowhere"),
        ({"default": {"BACKEND": "django.tasks.backends.immediate.ImmediateBackend"}}, "ImmediateBackend"),
        ({"default": {"BACKEND": "django_ox.backend.OxBackend", "QUEUES": ["images"]}}, "images"),
    ],
)
def test_check__jobs_need_an_engine_that_keeps_them(settings, tasks, reason):
    settings.TASKS = tasks
    [(check_id, message)] = found()
    assert check_id == "vernier_media.E005"
    assert reason in message
