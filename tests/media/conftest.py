"""A staging directory of the test's own, and small quick variants."""

from __future__ import annotations

import pytest

from tests.media.factory import SMALL_VARIANTS
from vernier.media.storages import renditions_storage


@pytest.fixture
def staging_directory(settings, tmp_path):
    """Point the alias `staging` at an empty directory."""
    directory = tmp_path / "staging"
    directory.mkdir()
    settings.STORAGES = {
        **settings.STORAGES,
        "staging": {
            "BACKEND": "vernier.media.storages.DurableFileSystemStorage",
            "OPTIONS": {"location": str(directory)},
        },
    }
    return directory


@pytest.fixture
def small_variants(settings):
    settings.VERNIER_MEDIA = {"VARIANTS": SMALL_VARIANTS, "MAX_ATTEMPTS": 4}


@pytest.fixture(params=["database", "directory"])
def renditions(request, settings, tmp_path):
    """The store of the renditions, of either kind."""
    if request.param == "directory":
        backend = {
            "BACKEND": "vernier.media.storages.DurableFileSystemStorage",
            "OPTIONS": {"location": str(tmp_path / "renditions")},
        }
        (tmp_path / "renditions").mkdir()
        settings.STORAGES = {**settings.STORAGES, "renditions": backend}
    return renditions_storage()
