"""Errors that no view has answered: programs get JSON, people a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import DisallowedHost

from vernier.media_api.cors import allow_scripts
from vernier.media_api.errors import ApiError, invalid_request
from vernier.pages import errors as pages

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

# Where programs speak to the site.
_FOR_PROGRAMS = ("/media", "/micropub", "/indieauth/", "/.well-known/")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400 in the language of whoever asks."""
    if not _is_for_program(request):
        return pages.bad_request(request, exception)
    is_host = isinstance(exception, DisallowedHost)
    description = "The Host header names a host that is not served here." if is_host else "The request is not valid."
    return allow_scripts(invalid_request(description).response())


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500; the fault is in the log."""
    if not _is_for_program(request):
        return pages.server_error(request)
    return allow_scripts(ApiError(500, "server_error", "The server has failed; the fault is in its log.").response())


def _is_for_program(request: HttpRequest) -> bool:
    return request.path.startswith(_FOR_PROGRAMS)
