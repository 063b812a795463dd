"""`POST /media` with `action=delete`: how clients of Micropub delete a file. Uploads end before, in `upload.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async
from django.db import DatabaseError
from django.http import HttpResponse

from vernier.media.delete import delete_media
from vernier.media.exceptions import MediaNotFound
from vernier.media_api.delete import DELETE_SCOPES
from vernier.media_api.errors import invalid_request
from vernier.media_api.links import base_url
from vernier.media_api.reading import JSON, form_fields, json_object, quoted
from vernier.media_api.refusals import refusal
from vernier.media_api.sender import find_sender, form_tokens
from vernier.posts.addresses import media_id_of

if TYPE_CHECKING:
    from django.http import HttpRequest

    from vernier.authors.models import AccessToken
    from vernier.media_api.errors import ApiError


async def act(request: HttpRequest) -> HttpResponse:
    """Delete the Media that `url` names and answer 204, also the second time; raise ApiError for anything else."""
    return await sync_to_async(_act)(request)


def _act(request: HttpRequest) -> HttpResponse:
    token, given = _read(request)
    action, url = given.get("action"), given.get("url")
    if action != "delete":
        received = quoted(action) if isinstance(action, str) else "missing"
        raise invalid_request(
            f"The action is {received}; valid is “delete”, or multipart/form-data with a file in a part named “file”."
        )
    if not isinstance(url, str):
        raise invalid_request("The url of the file to delete is missing.")
    media_id = media_id_of(base_url(request), url)
    if media_id is None:
        raise _no_file(url)
    try:
        delete_media(media_id, owner=token.author)
    except MediaNotFound as error:
        raise _no_file(url) from error
    except DatabaseError as error:
        raise refusal(error) from error
    return HttpResponse(status=204, headers={"Cache-Control": "no-store"})


def _no_file(url: str) -> ApiError:
    return invalid_request(f"There is no file of yours at {quoted(url)}.")


def _read(request: HttpRequest) -> tuple[AccessToken, dict[str, Any]]:
    authorization = request.headers.get("Authorization")
    if request.content_type == JSON:
        # Nothing is read for a stranger.
        token = find_sender(authorization, scopes=DELETE_SCOPES)
        return token, json_object(request)
    fields = form_fields(request)
    return find_sender(authorization, form_tokens(fields), scopes=DELETE_SCOPES), dict(fields)
