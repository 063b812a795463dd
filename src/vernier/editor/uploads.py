"""The forms of the editor that carry photos: what they may be, and who may send them."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth import get_user
from django.shortcuts import render

from vernier.authors.models import Author
from vernier.media.conf import media_settings
from vernier.media_api.errors import ApiError
from vernier.media_api.form_handler import FormEndpoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpRequest, HttpResponse

# The parts that are files: new photos, the file that takes the place of one of the post's, and a single photo.
FILES = "files"
REPLACEMENT = "replacement"
FILE = "file"
# One form without JavaScript. All of them arrive before any is answered, so that more would only test patience.
FILES_MAX = 30

_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_POST_PATH = re.compile(rf"/editor/(?:new|posts/{_ID})")
_PHOTO_PATH = re.compile(rf"/editor/(?:photos|media/{_ID}/replace)")


def signed_in_author(request: HttpRequest) -> Author | None:
    """Return whose session a request is of that no middleware has seen."""
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    if not key:
        return None
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    author = get_user(request)
    return author if isinstance(author, Author) else None


def wants_json(request: HttpRequest) -> bool:
    """Whether a script asks, which reads the answer itself."""
    return "application/json" in request.headers.get("Accept", "")


def accepted_types() -> str:
    """Return what a file picker offers. Phones convert a photo in a type that is not among these."""
    return ",".join(f"image/{name}" for name in media_settings().upload_types)


def refuse(request: HttpRequest, error: ApiError) -> HttpResponse:
    """Answer a form that is not accepted at all, in the language of who has sent it."""
    if wants_json(request):
        return error.response()
    response = render(request, "editor/refused.html", {"reason": error.description}, status=error.status)
    for name, value in error.headers.items():
        response.headers[name] = value
    return response


def _takes_post(request: HttpRequest, fields: Sequence[tuple[str, str]]) -> bool:  # noqa: ARG001 - its signature
    """Let the form of somebody who was signed out through without its files: the text must not be lost."""
    return signed_in_author(request) is not None


def _takes_photo(request: HttpRequest, fields: Sequence[tuple[str, str]]) -> bool:  # noqa: ARG001 - its signature
    if signed_in_author(request) is None:
        raise signed_out()
    return True


def signed_out() -> ApiError:
    return ApiError(401, "signed_out", "You are signed out. Sign in in another tab, then try again here.")


ENDPOINTS = (
    FormEndpoint(
        matches=lambda path: _POST_PATH.fullmatch(path) is not None,
        file_fields=frozenset({FILES, REPLACEMENT}),
        files_max=FILES_MAX,
        authorise=_takes_post,
        refuse=refuse,
    ),
    FormEndpoint(
        matches=lambda path: _PHOTO_PATH.fullmatch(path) is not None,
        file_fields=frozenset({FILE}),
        files_max=1,
        authorise=_takes_photo,
        refuse=refuse,
    ),
)
