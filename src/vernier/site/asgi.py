"""The site as an ASGI application."""

import os
from typing import TYPE_CHECKING, cast

from django.core.asgi import get_asgi_application

if TYPE_CHECKING:
    from asgiref.typing import ASGI3Application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vernier.site.settings")

# Django describes the same protocol in types of its own.
_django = cast("ASGI3Application", get_asgi_application())

# Their models load once Django is set up.
from vernier.editor.uploads import ENDPOINTS as EDITOR_ENDPOINTS  # noqa: E402
from vernier.media_api.form_handler import FormHandler  # noqa: E402
from vernier.media_api.upload import UploadHandler  # noqa: E402
from vernier.micropub.uploads import ENDPOINTS as MICROPUB_ENDPOINTS  # noqa: E402
from vernier.site.guard import BodyGuard  # noqa: E402
from vernier.site.stopping import Stopping  # noqa: E402

_forms = FormHandler(BodyGuard(_django), [*EDITOR_ENDPOINTS, *MICROPUB_ENDPOINTS])
application = Stopping(UploadHandler(_forms))
