"""A server process of the tests with the whole site and its Micropub forms: `python -m tests.micropub.server FD`."""

import os
import socket
import sys

from django.core.asgi import get_asgi_application

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.micropub.settings"

from vernier.site.server import run_server

django_application = get_asgi_application()

from vernier.media_api.form_handler import FormHandler  # noqa: E402 - needs Django's apps
from vernier.media_api.upload import UploadHandler  # noqa: E402
from vernier.micropub.uploads import ENDPOINTS  # noqa: E402
from vernier.site.guard import BodyGuard  # noqa: E402

application = UploadHandler(FormHandler(BodyGuard(django_application), ENDPOINTS))

if __name__ == "__main__":
    listening = socket.socket(fileno=int(sys.argv[1]))
    run_server(listening, application="tests.micropub.server:application", graceful_seconds=1)
