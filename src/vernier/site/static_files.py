"""Style sheets, scripts and icons of the site and of the admin: no step that collects them, no server for them."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import TYPE_CHECKING

from django.contrib.staticfiles.finders import find
from django.core.exceptions import SuspiciousFileOperation
from django.http import Http404, HttpResponse, HttpResponseNotModified
from django.utils.http import http_date
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from django.views.static import was_modified_since

if TYPE_CHECKING:
    from django.http import HttpRequest

# They change with the version of the software only, under the same names: an hour later everybody has the new ones.
_MAX_AGE_SECONDS = 3600


@require_safe
@cache_control(public=True, max_age=_MAX_AGE_SECONDS)
def static_file(request: HttpRequest, name: str) -> HttpResponse:
    """Serve a static file of an app, with 304 for one that the browser has; 404 for anything else."""
    file, media_type = _find(name)
    modified = file.stat().st_mtime
    if not was_modified_since(request.headers.get("If-Modified-Since"), modified):
        return HttpResponseNotModified()
    return HttpResponse(file.read_bytes(), content_type=media_type, headers={"Last-Modified": http_date(modified)})


def _find(name: str) -> tuple[Path, str]:
    """Return the file and its type; one without a type, a licence for instance, is of no use to a page."""
    media_type = mimetypes.guess_type(name)[0]
    try:
        found = find(name)
    except (SuspiciousFileOperation, ValueError) as error:
        raise Http404 from error
    if media_type is None or found is None or not Path(found).is_file():
        raise Http404
    return Path(found), media_type
