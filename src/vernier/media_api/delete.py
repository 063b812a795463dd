"""`DELETE /media/{id}`: from the answer on there is nothing at any address of the Media."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asgiref.sync import sync_to_async
from django.db import DatabaseError
from django.http import HttpResponse

from vernier.media.delete import delete_media
from vernier.media.exceptions import MediaNotFound
from vernier.media_api.authentication import authenticate
from vernier.media_api.links import parse_media_id
from vernier.media_api.refusals import refusal

if TYPE_CHECKING:
    from django.http import HttpRequest

DELETE_SCOPES = ("delete",)


async def delete(request: HttpRequest, media_id: str) -> HttpResponse:
    """Answer 204, also the second time; raise ApiError 404 for an id that is not one of this author's Media."""
    return await sync_to_async(_delete)(request, media_id)


def _delete(request: HttpRequest, media_id: str) -> HttpResponse:
    token = authenticate(request.headers.get("Authorization"), scopes=DELETE_SCOPES)
    try:
        delete_media(parse_media_id(media_id), owner=token.author)
    except (MediaNotFound, DatabaseError) as error:
        raise refusal(error) from error
    return HttpResponse(status=204, headers={"Cache-Control": "no-store"})
