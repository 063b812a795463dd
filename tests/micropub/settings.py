"""Settings of the server that these tests start."""

import json
import os

from tests.media_api.settings import *  # noqa: F403

ROOT_URLCONF = "vernier.site.urls"
VERNIER_MICROPUB = json.loads(os.environ.get("MICROPUB_SETTINGS", "{}"))
