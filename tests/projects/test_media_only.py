import os
import subprocess
import sys
from pathlib import Path

import pytest

CORPUS = Path(__file__).parent.parent / "corpus"
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.processes


@pytest.fixture
def python(tmp_path):
    environ = {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "tests.projects.media_only",
        "MEDIA_ONLY_DATA": str(tmp_path),
        "PYTHONPATH": str(ROOT),
    }

    def run(*arguments):
        return subprocess.run([sys.executable, *arguments], env=environ, capture_output=True, text=True, check=False)

    return run


def test_media_only__has_no_complaint_and_misses_no_migration(python):
    assert python("-m", "django", "check", "--fail-level", "WARNING").returncode == 0
    assert python("-m", "django", "makemigrations", "--check", "--dry-run").returncode == 0


def test_media_only__processes_an_upload_of_djangos_own_user(python):
    assert python("-m", "django", "migrate", "--verbosity", "0").returncode == 0
    done = python("-m", "tests.projects.accept_one", str(CORPUS / "orient_6.jpg"))
    assert done.stdout.strip() == "django.contrib.auth.models ready", done.stderr
