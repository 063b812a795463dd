"""The style sheets, scripts and icons of Django's admin: no step that collects them, and no server for files."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import TYPE_CHECKING

from django.contrib import admin
from django.core.exceptions import SuspiciousFileOperation
from django.http import Http404, HttpResponse, HttpResponseNotModified
from django.utils._os import safe_join
from django.utils.http import http_date
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from django.views.static import was_modified_since

if TYPE_CHECKING:
    from django.http import HttpRequest

_DIRECTORY = Path(admin.__file__).parent / "static" / "admin"
# They change with the version of Django only, under the same names: an hour later everybody has the new ones.
_MAX_AGE_SECONDS = 3600


@require_safe
@cache_control(public=True, max_age=_MAX_AGE_SECONDS)
def admin_file(request: HttpRequest, name: str) -> HttpResponse:
    """Serve a file of the admin, with 304 for one that the browser has; 404 for anything else."""
    file, media_type = _find(name)
    modified = file.stat().st_mtime
    if not was_modified_since(request.headers.get("If-Modified-Since"), modified):
        return HttpResponseNotModified()
    return HttpResponse(file.read_bytes(), content_type=media_type, headers={"Last-Modified": http_date(modified)})


def _find(name: str) -> tuple[Path, str]:
    """Return the file and its type; one without a type, a licence for instance, is of no use to a page."""
    media_type = mimetypes.guess_type(name)[0]
    try:
        file = Path(safe_join(_DIRECTORY, name))
    except (SuspiciousFileOperation, ValueError) as error:
        raise Http404 from error
    if media_type is None or not file.is_file():
        raise Http404
    return file, media_type
