"""Settings of the test run: those of the site, with a data directory of the run's own.

Every process that loads them has its own directory and database, the workers of pytest-xdist too. The database is a
real file with the real options: tests meet what production meets.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

for name in [name for name in os.environ if name.startswith("VERNIER_")]:
    del os.environ[name]

_directory = Path(tempfile.mkdtemp(prefix="vernier-test-"))
_owner = os.getpid()


@atexit.register
def _remove_directory() -> None:
    """Remove the directory in the process that made it, and not in a fork of it."""
    if os.getpid() == _owner:
        shutil.rmtree(_directory, ignore_errors=True)


os.environ["VERNIER_DATA_DIR"] = str(_directory)

from vernier.site.settings import *  # noqa: E402, F403 - the environment comes first
from vernier.site.settings import DATABASES  # noqa: E402

ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
DATABASES["default"]["TEST"] = {"NAME": _directory / "test.db"}
# A real hash takes a tenth of a second by design.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# The client of the tests talks http.
del os.environ["VERNIER_DATA_DIR"]
