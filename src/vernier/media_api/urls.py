"""The addresses of this app. Uploads, by `POST /media` or `PUT /media/{id}`, end before this, in `upload.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import path, re_path

from vernier.media_api import serve, status
from vernier.media_api.actions import act
from vernier.media_api.delete import delete
from vernier.media_api.errors import ApiError, not_found
from vernier.media_api.queries import query
from vernier.media_api.reading import JSON, URL_ENCODED
from vernier.media_api.views import api_view

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

app_name = "media_api"


@api_view("GET", "HEAD", "POST")
async def every_media(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return await query(request)
    if request.content_type in {URL_ENCODED, JSON}:
        return await act(request)
    raise _not_in_front()


@api_view("GET", "HEAD", "PUT", "DELETE")
async def one_media(request: HttpRequest, media_id: str) -> HttpResponse:
    if request.method == "PUT":
        raise _not_in_front()
    if request.method == "DELETE":
        return await delete(request, media_id)
    return await serve.current(request, media_id)


@api_view("GET", "HEAD")
async def nothing(request: HttpRequest, rest: str) -> HttpResponse:  # noqa: ARG001 - Django's signature
    raise not_found()


def _not_in_front() -> ApiError:
    return ApiError(501, "not_implemented", "UploadHandler is not in front of this Django application.")


urlpatterns = [
    path("media", every_media, name="media"),
    path("media/<str:media_id>", one_media, name="current"),
    path("media/<str:media_id>/status", status.status, name="status"),
    re_path(
        r"^media/(?P<media_id>[^/]+)/v(?P<number>[1-9]\d{0,8})/(?P<file_name>[^/]+)\Z",
        serve.versioned,
        name="versioned",
    ),
    # What is no address of an image is answered as one that does not exist: with JSON.
    path("media/<path:rest>", nothing, name="nothing"),
]
