"""A ceiling and a time limit for the bodies that Django reads; uploads, which have their own, come before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vernier.media_api.body import Body, ClientGone, replay
from vernier.media_api.conf import media_api_settings
from vernier.media_api.errors import ApiError
from vernier.media_api.respond import respond

if TYPE_CHECKING:
    from asgiref.typing import (
        ASGI3Application,
        ASGIReceiveCallable,
        ASGISendCallable,
        HTTPScope,
        Scope,
    )

# Forms and JSON. Django would spool any size to disk before a view could refuse it, and for anybody.
BODY_BYTES_MAX = 1024 * 1024


class BodyGuard:
    """An ASGI application that hands `app` each request with its body complete and within the limits."""

    def __init__(self, app: ASGI3Application) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] != "http" or not _has_body(scope):
            await self._app(scope, receive, send)
            return
        body = Body(receive, media_api_settings())
        try:
            content = await _read(body)
        except ClientGone:
            return
        except ApiError as error:
            await respond(send, body, error.response())
            return
        await self._app(scope, replay(content, receive), send)


def _has_body(scope: HTTPScope) -> bool:
    """RFC 9112 section 6.3: a request has a body if one of these headers announces it."""
    headers = dict(scope["headers"])
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"


async def _read(body: Body) -> bytes:
    """Return the whole body; raise ApiError 413 or 408 as soon as a limit is reached."""
    content = bytearray()
    while batch := await body.next_batch():
        content += batch
        if len(content) > BODY_BYTES_MAX:
            raise ApiError(413, "too_large", f"The body has more than {BODY_BYTES_MAX} bytes.")
    return bytes(content)
