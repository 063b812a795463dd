import shutil

import pytest

from tests.cli.site import Site


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    """Make a data directory with a migrated database and the author alice, to copy."""
    site = Site(tmp_path_factory.mktemp("template") / "data")
    site.run("author", "create", "alice")
    return site.data


@pytest.fixture
def new_site(tmp_path):
    """Return a site whose data directory does not exist yet."""
    site = Site(tmp_path / "data")
    yield site
    site.kill()


@pytest.fixture
def site(new_site, template):
    shutil.copytree(template, new_site.data)
    return new_site
