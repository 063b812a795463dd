"""`POST /media` and `PUT /media/{id}`, in front of Django, which would spool a whole body before it could refuse it.

What the headers can tell is checked before a byte of the body is read. The bytes of the file are then written once,
straight into the staging store, while they arrive; files, hashes and database stay off the event loop.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import HttpResponse, JsonResponse

from vernier.media.models import Media, Outcome
from vernier.media_api.authentication import authenticate
from vernier.media_api.body import Body, ClientGone
from vernier.media_api.conf import media_api_settings
from vernier.media_api.errors import invalid_request, not_found
from vernier.media_api.head import read_head
from vernier.media_api.intake import open_intake
from vernier.media_api.links import base_url, media_url, parse_media_id
from vernier.media_api.multipart import media_type_of
from vernier.media_api.reading import JSON, URL_ENCODED
from vernier.media_api.refusals import refusal
from vernier.media_api.respond import respond, respond_stopping
from vernier.media_api.threads import in_upload_thread

if TYPE_CHECKING:
    from uuid import UUID

    from asgiref.typing import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, Scope
    from django.core.handlers.asgi import ASGIRequest

    from vernier.authors.models import Author
    from vernier.media.record import Accepted
    from vernier.media_api.intake import Intake

MEDIA_PATH = "/media"
UPLOAD_SCOPES = ("media", "create")
REPLACE_SCOPES = ("update", "media")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Purpose:
    """What an upload is for: a new Media, or the one that the path names; and the scopes of which it takes one."""

    scopes: tuple[str, ...]
    media_id: str | None


class UploadHandler:
    """An ASGI application that takes uploads itself and leaves every other request to `app`."""

    def __init__(self, app: ASGI3Application) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = read_head(scope)
        if request is None:
            body = Body(receive, media_api_settings())
            await respond(send, body, invalid_request("The headers or the query cannot be read.").response())
        elif purpose := _purpose(request):
            await self._take(request, purpose, Body(receive, media_api_settings()), send)
        else:
            await self._app(scope, receive, send)

    async def _take(self, request: ASGIRequest, purpose: _Purpose, body: Body, send: ASGISendCallable) -> None:
        try:
            response = await self._accept(request, purpose, body)
        except ClientGone:
            return
        except asyncio.CancelledError:
            await respond_stopping(send)
            return
        except Exception as error:  # noqa: BLE001 - whatever it is becomes an answer, and refusal() logs it
            response = refusal(error).response()
        await respond(send, body, response)

    async def _accept(self, request: ASGIRequest, purpose: _Purpose, body: Body) -> HttpResponse:
        base = base_url(request)
        authorization = request.headers.get("Authorization")
        owner, replaces = await in_upload_thread(_authorise, purpose, authorization)
        intake = open_intake(request, owner=owner, replaces=replaces)
        accepted = await self._stage_and_accept(intake, body)
        return _created(base, accepted) if replaces is None else _replaced(base, accepted)

    async def _stage_and_accept(self, intake: Intake, body: Body) -> Accepted:
        try:
            while batch := await body.next_batch():
                await in_upload_thread(intake.write, batch)
            return await in_upload_thread(intake.accept)
        finally:
            if not intake.is_closed:
                await in_upload_thread(intake.close)


def _purpose(request: ASGIRequest) -> _Purpose | None:
    """Return what the request uploads for, or None where it is no upload."""
    path = request.path_info
    if request.method == "POST" and path == MEDIA_PATH:
        return None if _is_action(request) else _Purpose(scopes=UPLOAD_SCOPES, media_id=None)
    media_id = path.removeprefix(f"{MEDIA_PATH}/")
    if request.method == "PUT" and media_id != path and "/" not in media_id:
        return _Purpose(scopes=REPLACE_SCOPES, media_id=media_id)
    return None


def _is_action(request: ASGIRequest) -> bool:
    """Tell whether the request is one for the view: no file can be in such a body."""
    media_type = media_type_of(request.headers.get("Content-Type", ""))
    return media_type in {URL_ENCODED.encode(), JSON.encode()}


def _authorise(purpose: _Purpose, authorization: str | None) -> tuple[Author, UUID | None]:
    """Return who uploads, and the Media of theirs that is replaced; raise ApiError where they may not.

    Whether the Media is still there is asked again when the upload is accepted: a body takes its time.
    """
    token = authenticate(authorization, scopes=purpose.scopes)
    if purpose.media_id is None:
        return token.author, None
    media_id = parse_media_id(purpose.media_id)
    if not Media.objects.live().filter(pk=media_id, owner_id=token.author_id).exists():
        raise not_found()
    return token.author, media_id


def _created(base: str, accepted: Accepted) -> HttpResponse:
    """Answer 201 with the address in `Location` and in the body: clients read the one or the other."""
    url = media_url(base, accepted.media_id)
    return JsonResponse({"url": url}, status=201, headers={"Location": url, "Cache-Control": "no-store"})


def _replaced(base: str, accepted: Accepted) -> HttpResponse:
    """Answer 202 for a Version that will be processed, 200 where the newest one has these bytes already."""
    content = {"url": media_url(base, accepted.media_id), "version": accepted.number}
    status = 200 if accepted.outcome is Outcome.UNCHANGED else 202
    return JsonResponse(content, status=status, headers={"Cache-Control": "no-store"})
