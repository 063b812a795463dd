"""A server process of the tests: `python -m tests.media_api.server FILE-DESCRIPTOR`."""

import os
import socket
import sys

from django.core.asgi import get_asgi_application

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.media_api.settings"

from vernier.site import server

django_application = get_asgi_application()

from tests.media_api.forms import ENDPOINT  # noqa: E402 - needs Django's apps
from vernier.media_api.form_handler import FormHandler  # noqa: E402
from vernier.media_api.upload import UploadHandler  # noqa: E402
from vernier.site.guard import BodyGuard  # noqa: E402

application = UploadHandler(FormHandler(BodyGuard(django_application), [ENDPOINT]))

if __name__ == "__main__":
    server.HEADER_SECONDS = float(os.environ.get("MEDIA_API_HEADER_SECONDS", server.HEADER_SECONDS))
    server.run_server(
        socket.socket(fileno=int(sys.argv[1])),
        application="tests.media_api.server:application",
        graceful_seconds=float(os.environ.get("MEDIA_API_GRACEFUL_SECONDS", "1")),
    )
