"""Forms that carry photos beside their fields, in front of Django, which would spool every file to disk twice.

The files go straight into the staging store while they arrive. The other fields go on to Django as a small form
without files, and with them a `ReceivedForm` in the scope; what the view does not accept is removed at the end.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from vernier.media_api.body import Body, ClientGone, replay
from vernier.media_api.conf import media_api_settings
from vernier.media_api.form_intake import FormIntake, open_form
from vernier.media_api.head import read_head
from vernier.media_api.multipart import FORM_DATA, media_type_of
from vernier.media_api.received import SCOPE_KEY
from vernier.media_api.refusals import refusal
from vernier.media_api.respond import respond, respond_stopping
from vernier.media_api.threads import in_upload_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from asgiref.typing import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope
    from django.core.handlers.asgi import ASGIRequest
    from django.http import HttpRequest, HttpResponse

    from vernier.media_api.errors import ApiError
    from vernier.media_api.received import ReceivedForm

_REPLACED_HEADERS = {b"content-type", b"content-length", b"transfer-encoding"}


def json_refusal(request: HttpRequest, error: ApiError) -> HttpResponse:  # noqa: ARG001 - as `FormEndpoint.refuse`
    return error.response()


@dataclass(frozen=True, slots=True, kw_only=True)
class FormEndpoint:
    """What one kind of form may be, and who may send it. The functions are called in threads, `matches` excepted."""

    # Whether forms for this path, as in `request.path_info`, are of this kind.
    matches: Callable[[str], bool]
    # The names of the parts that may be files; a file in any other is refused.
    file_fields: frozenset[str]
    files_max: int
    # Whether it is known who sends this, and that they may send files. Asked for the headers alone, and when that is
    # False, before the first file again, with the text so far. Then False means that files are not kept, and the view
    # gets them as refused. It may raise ApiError, which ends the request. No middleware has seen this one.
    authorise: Callable[[HttpRequest, Sequence[tuple[str, str]]], bool]
    # The answer to a form that is not accepted at all. The reason may be that the database is busy.
    refuse: Callable[[HttpRequest, ApiError], HttpResponse] = json_refusal


class FormHandler:
    """An ASGI application that receives these forms for `app`, and hands it every other request untouched."""

    def __init__(self, app: ASGI3Application, endpoints: Sequence[FormEndpoint]) -> None:
        self._app = app
        self._endpoints = tuple(endpoints)

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        request = read_head(scope) if scope["type"] == "http" and scope["method"] == "POST" else None
        endpoint = None if request is None else self._endpoint(request)
        if request is None or endpoint is None:
            await self._app(scope, receive, send)
            return
        body = Body(receive, media_api_settings())
        try:
            intake, form, content = await _receive(request, endpoint, body)
        except ClientGone:
            return
        except asyncio.CancelledError:
            await respond_stopping(send)
            return
        except Exception as error:  # noqa: BLE001 - whatever it is becomes an answer, and refusal() logs it
            response = await in_upload_thread(endpoint.refuse, request, refusal(error))
            await respond(send, body, response)
            return
        try:
            await self._app(_with_form(cast("HTTPScope", scope), form, content), replay(content, receive), send)
        finally:
            await in_upload_thread(intake.close)

    def _endpoint(self, request: ASGIRequest) -> FormEndpoint | None:
        """Return whose form the request has, or None where it has none."""
        if media_type_of(request.headers.get("Content-Type", "")) != FORM_DATA:
            return None
        return next((endpoint for endpoint in self._endpoints if endpoint.matches(request.path_info)), None)


async def _receive(
    request: ASGIRequest, endpoint: FormEndpoint, body: Body
) -> tuple[FormIntake, ReceivedForm, bytes]:
    """Return the form, its text for Django, and the intake, which is to be closed; after an exception it is."""
    intake = await in_upload_thread(open_form, request, endpoint)
    try:
        while batch := await body.next_batch():
            await in_upload_thread(intake.write, batch)
        form, content = await in_upload_thread(intake.finish)
    except BaseException:
        await in_upload_thread(intake.close)
        raise
    return intake, form, content


def _with_form(scope: HTTPScope, form: ReceivedForm, content: bytes) -> HTTPScope:
    """Return the scope of a request whose body is `content`."""
    headers = [(name, value) for name, value in scope["headers"] if name.lower() not in _REPLACED_HEADERS]
    headers.append((b"content-type", b"application/x-www-form-urlencoded"))
    headers.append((b"content-length", str(len(content)).encode()))
    return cast("HTTPScope", {**scope, "headers": headers, SCOPE_KEY: form})
