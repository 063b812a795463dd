"""What every test has: an empty staging directory, and an author when it asks for one."""

import shutil
from pathlib import Path

import pytest
from django.conf import settings

from vernier.media.child.limits import CAP_SYS_NICE, drop_capabilities

# Some tests encode in this process, where the encoder would make root's a real-time process, with all that it starts.
drop_capabilities(keep=~(1 << CAP_SYS_NICE))


@pytest.fixture(autouse=True)
def clean_staging():
    """Leave no staged file to the next test."""
    yield
    staging = Path(settings.STORAGES["staging"]["OPTIONS"]["location"])
    for entry in staging.iterdir() if staging.is_dir() else ():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink(missing_ok=True)


@pytest.fixture
def author(db):
    from vernier.authors.models import Author

    return Author.objects.create_user("alice")
