import subprocess
import time
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connections
from django.db.utils import load_backend

from tests.media_api.site import Site

JPEG_HEAD = b"\xff\xd8\xff\xe0" + b"\x00" * 60


@pytest.fixture(scope="session")
def migrated_database(tmp_path_factory, django_db_blocker):
    """A database with every table, to copy."""
    path = tmp_path_factory.mktemp("template") / "site.db"
    mine = connections["default"]
    settings = {**mine.settings_dict, "NAME": str(path)}
    with django_db_blocker.unblock():
        connections["default"] = load_backend(settings["ENGINE"]).DatabaseWrapper(settings, "default")
        try:
            call_command("migrate", verbosity=0)
        finally:
            connections["default"].close()
            connections["default"] = mine
    return path


@pytest.fixture(scope="session")
def start_site(tmp_path_factory, migrated_database, django_db_blocker):
    """Start servers that live until the end of the run."""
    sites = []

    def start(*, directory: Path | None = None, **options):
        place = directory or tmp_path_factory.mktemp("site")
        sites.append(Site(place, migrated_database, django_db_blocker, **options))
        return sites[-1]

    yield start
    for site in sites:
        site.stop()


@pytest.fixture(scope="session")
def site(start_site):
    """A server with small limits, so that tests of them are quick."""
    return start_site(media={"UPLOAD_MAX_BYTES": 1024 * 1024})


@pytest.fixture
def jpeg():
    """Bytes that are taken for a JPEG: nothing in the request decodes them."""
    return JPEG_HEAD + b"x" * 2000


@pytest.fixture
def wait_until():
    """Wait for what another process does, for ten seconds at most."""

    def wait(condition):
        deadline = time.monotonic() + 10
        while not condition():
            assert time.monotonic() < deadline, "It did not happen in time."
            time.sleep(0.02)

    return wait


@pytest.fixture(scope="module")
def short_header_site(start_site):
    return start_site(env={"MEDIA_API_HEADER_SECONDS": "1"})


@pytest.fixture
def full_site(start_site, tmp_path):
    """A server whose staging directory is on a device with room for 64 kB."""
    staging = tmp_path / "staging"
    staging.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", staging], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("A small file system can be mounted by root only.")
    site = start_site(directory=tmp_path)
    yield site
    site.stop()
    subprocess.run(["umount", staging], check=True)
