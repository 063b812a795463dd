"""Settings of somebody else's project that uses `vernier.media` and nothing else of Vernier."""

import os
from pathlib import Path

_DATA = Path(os.environ["MEDIA_ONLY_DATA"])

SECRET_KEY = "of a test"
INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "vernier.media",
    "django_ox",
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": _DATA / "project.sqlite3",
        # Transactions wait for each other instead of failing.
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20},
    }
}
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staging": {
        "BACKEND": "vernier.media.storages.DurableFileSystemStorage",
        "OPTIONS": {"location": _DATA / "staging"},
    },
    "renditions": {"BACKEND": "vernier.media.storages.DatabaseStorage"},
}
TASKS = {"default": {"BACKEND": "django_ox.backend.OxBackend"}}
USE_TZ = True
