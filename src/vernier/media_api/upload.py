"""`POST /media`, in front of Django: Django would spool the whole body before any of its code could refuse it.

What the headers can tell is checked before a byte of the body is read. The bytes of the file are then written once,
straight into the staging store, while they arrive; files, hashes and database stay off the event loop.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING

from asgiref.typing import HTTPResponseBodyEvent, HTTPResponseStartEvent
from django.core.exceptions import BadRequest
from django.core.handlers.asgi import ASGIRequest
from django.db import DatabaseError, connection
from django.http import HttpResponse, JsonResponse

from vernier.media.accept import Upload, check_upload_key
from vernier.media.conf import media_settings
from vernier.media.exceptions import UploadTooLarge
from vernier.media_api.authentication import authenticate
from vernier.media_api.body import Body, ClientGone
from vernier.media_api.conf import media_api_settings
from vernier.media_api.errors import ApiError, invalid_request
from vernier.media_api.form import FRAMING_BYTES_MAX, FormReader, boundary_of
from vernier.media_api.links import base_url, media_url
from vernier.media_api.refusals import refusal, unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from asgiref.typing import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope

    from vernier.authors.models import Author
    from vernier.media.accept import Accepted

logger = logging.getLogger("vernier.media_api")

MEDIA_PATH = "/media"
UPLOAD_SCOPES = ("media", "create")
# Uploads take turns in these threads, 256 KiB or one transaction at a time. They wait for the disk and for the
# database's one writer, so more of them than this would wait at the same place; a slow client occupies none.
UPLOAD_THREADS = 8
# Programs that run in a browser read the address from a header (Fetch Standard, section 3.3.5). There are no
# cookies here, so any origin may.
CORS_HEADERS = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Location"}


class UploadHandler:
    """An ASGI application that takes uploads itself and leaves every other request to `app`."""

    def __init__(self, app: ASGI3Application) -> None:
        self._app = app
        self._threads = ThreadPoolExecutor(UPLOAD_THREADS, thread_name_prefix="upload")

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = _request(scope)
        if request is None:
            body = Body(receive, media_api_settings())
            await respond(send, body, invalid_request("The headers or the query cannot be read.").response())
        elif request.method == "POST" and request.path_info == MEDIA_PATH:
            await self._take(request, Body(receive, media_api_settings()), send)
        else:
            await self._app(scope, receive, send)

    async def _take(self, request: ASGIRequest, body: Body, send: ASGISendCallable) -> None:
        try:
            response = await self._create(request, body)
        except ClientGone:
            return
        except asyncio.CancelledError:
            # The server stops, within seconds: the client is told, and nothing else is waited for.
            await _send(send, unavailable("The server is stopping; please try again.").response(), is_last=True)
            return
        except Exception as error:  # noqa: BLE001 - whatever it is becomes an answer, and refusal() logs it
            response = refusal(error).response()
        await respond(send, body, response)

    async def _create(self, request: ASGIRequest, body: Body) -> HttpResponse:
        """Answer 201 with the address in `Location` and in the body: clients read the one or the other."""
        base = base_url(request)
        authorization = request.headers.get("Authorization")
        token = await self._in_thread(lambda: authenticate(authorization, scopes=UPLOAD_SCOPES))
        _check_length(request)
        boundary = boundary_of(request.headers.get("Content-Type", ""))
        key = request.headers.get("Idempotency-Key")
        check_upload_key(key)
        accepted = await self._stage_and_accept(_Intake(boundary), body, owner=token.author, key=key)
        url = media_url(base, accepted.media_id)
        return JsonResponse({"url": url}, status=201, headers={"Location": url, "Cache-Control": "no-store"})

    async def _stage_and_accept(self, intake: _Intake, body: Body, *, owner: Author, key: str | None) -> Accepted:
        try:
            while batch := await body.next_batch():
                await self._in_thread(intake.write, batch)
            return await self._in_thread(lambda: intake.accept(owner=owner, key=key))
        finally:
            if not intake.is_closed:
                await self._in_thread(intake.close)

    async def _in_thread[**P, T](self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the call in one of the threads. A cancelled caller still waits for it: a thread cannot be stopped."""

        def run() -> T:
            try:
                return call(*args, **kwargs)
            except DatabaseError:
                # These few threads keep their connections, which cost more to open than an upload's queries take.
                # One on which something went wrong may be of no use any more.
                connection.close()
                raise

        future = asyncio.get_running_loop().run_in_executor(self._threads, run)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait([future])
            raise


class _Intake:
    """A form on its way into the staging store. Its methods run in threads; whoever comes second waits."""

    def __init__(self, boundary: bytes) -> None:
        self._upload = Upload()
        self._form = FormReader(boundary, on_file=self._upload.write)
        self._lock = Lock()
        self.is_closed = False

    def write(self, chunk: bytes) -> None:
        with self._lock:
            self._form.write(chunk)

    def accept(self, *, owner: Author, key: str | None) -> Accepted:
        with self._lock:
            self._form.finish()
            accepted = self._upload.accept(owner=owner, idempotency_key=key)
            self._close()
            return accepted

    def close(self) -> None:
        """Remove what no row names."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        self._upload.__exit__(None, None, None)
        self.is_closed = True


def _request(scope: HTTPScope) -> ASGIRequest | None:
    """Return the request without its body, or None where Django would fail to read its headers."""
    try:
        return ASGIRequest(scope, BytesIO())
    except (UnicodeDecodeError, BadRequest, ValueError):
        return None


def _check_length(request: ASGIRequest) -> None:
    """Raise ApiError unless the body says its length (RFC 9110 section 8.6), and the file in it can be accepted."""
    length = request.headers.get("Content-Length", "")
    if not length:
        how = "chunked" if "Transfer-Encoding" in request.headers else "without a Content-Length"
        raise ApiError(411, "length_required", f"The body is sent {how}; valid is a Content-Length, not chunked.")
    if not (length.isascii() and length.isdigit()):
        raise invalid_request("The Content-Length is not a number.")
    ceiling = media_settings().upload_max_bytes
    # Compared by its digits first: a number of any length can be sent.
    if len(length.lstrip("0")) > len(str(ceiling + FRAMING_BYTES_MAX)) or int(length) > ceiling + FRAMING_BYTES_MAX:
        raise UploadTooLarge(f"The body has {length} bytes; a file may have at most {ceiling}.")


async def respond(send: ASGISendCallable, body: Body, response: HttpResponse) -> None:
    """Send the answer. Where the body was not read to its end, the connection ends with it (RFC 9112 section 9.3)."""
    if body.is_complete:
        await _send(send, response, is_last=True)
        return
    response.headers["Connection"] = "close"
    await _send(send, response, is_last=False)
    await body.linger()
    await send(HTTPResponseBodyEvent(type="http.response.body", body=b"", more_body=False))


async def _send(send: ASGISendCallable, response: HttpResponse, *, is_last: bool) -> None:
    for name, value in {"Content-Length": str(len(response.content)), **CORS_HEADERS}.items():
        response.headers[name] = value
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    await send(
        HTTPResponseStartEvent(
            type="http.response.start", status=response.status_code, headers=headers, trailers=False
        )
    )
    await send(HTTPResponseBodyEvent(type="http.response.body", body=response.content, more_body=not is_last))
