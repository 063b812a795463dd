"""Settings of a server that the tests start: those of the test run, changed by what `Site` passes on."""

import json
import os

from tests.settings import *  # noqa: F403
from tests.settings import DATABASES, STORAGES

_given = json.loads(os.environ["MEDIA_API_SITE"])

DATABASES["default"]["NAME"] = _given["database"]
DATABASES["default"]["OPTIONS"]["timeout"] = float(os.environ.get("MEDIA_API_DATABASE_TIMEOUT_SECONDS", "20"))
STORAGES["staging"]["OPTIONS"]["location"] = _given["staging"]
VERNIER_MEDIA = _given["media"]
VERNIER_MEDIA_API = _given["media_api"]
ROOT_URLCONF = "tests.media_api.forms"
# A session that a test can make without the database of the server.
SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
SECRET_KEY = "test"
