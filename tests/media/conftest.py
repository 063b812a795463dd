"""A staging directory of the test's own, and small quick variants."""

from __future__ import annotations

import pytest

from tests.media.factory import SMALL_VARIANTS


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
