"""The addresses of this app. `POST /media` never comes here: `upload.UploadHandler` takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.urls import path, re_path

from vernier.media_api import serve, status
from vernier.media_api.errors import ApiError, not_found
from vernier.media_api.upload import CORS_HEADERS
from vernier.media_api.views import api_view

if TYPE_CHECKING:
    from django.http import HttpRequest

app_name = "media_api"

# How long a browser may keep the answer to its preflight: two hours are the longest that any of them does.
_PREFLIGHT_SECONDS = 7200


@api_view("POST", "OPTIONS")
async def preflight(request: HttpRequest) -> HttpResponse:
    """Tell a browser that a page of another site may upload (Fetch Standard, section 3.3)."""
    if request.method == "POST":
        raise ApiError(501, "not_implemented", "UploadHandler is not in front of this Django application.")
    headers = {
        **CORS_HEADERS,
        "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key",
        "Access-Control-Max-Age": str(_PREFLIGHT_SECONDS),
    }
    return HttpResponse(status=204, headers=headers)


@api_view("GET", "HEAD")
async def nothing(request: HttpRequest, rest: str) -> HttpResponse:  # noqa: ARG001 - Django's signature
    raise not_found()


urlpatterns = [
    path("media", preflight, name="media"),
    path("media/<str:media_id>", serve.current, name="current"),
    path("media/<str:media_id>/status", status.status, name="status"),
    re_path(
        r"^media/(?P<media_id>[^/]+)/v(?P<number>[1-9]\d{0,8})/(?P<file_name>[^/]+)\Z",
        serve.versioned,
        name="versioned",
    ),
    # What is no address of an image is answered as one that does not exist: with JSON.
    path("media/<path:rest>", nothing),
]
