"""Answers that are given in front of Django, over ASGI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asgiref.typing import HTTPResponseBodyEvent, HTTPResponseStartEvent

from vernier.media_api.cors import allow_scripts
from vernier.media_api.refusals import unavailable

if TYPE_CHECKING:
    from asgiref.typing import ASGISendCallable
    from django.http import HttpResponse

    from vernier.media_api.body import Body


async def respond(send: ASGISendCallable, body: Body, response: HttpResponse) -> None:
    """Send the answer. Where the body was not read to its end, the connection ends with it (RFC 9112 section 9.3)."""
    if body.is_complete:
        await _send(send, response, is_last=True)
        return
    response.headers["Connection"] = "close"
    await _send(send, response, is_last=False)
    await body.linger()
    await send(HTTPResponseBodyEvent(type="http.response.body", body=b"", more_body=False))


async def respond_stopping(send: ASGISendCallable) -> None:
    """Tell the client that the server stops, within seconds; nothing else is waited for."""
    await _send(send, unavailable("The server is stopping; please try again.").response(), is_last=True)


async def _send(send: ASGISendCallable, response: HttpResponse, *, is_last: bool) -> None:
    response.headers["Content-Length"] = str(len(response.content))
    allow_scripts(response)
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    await send(
        HTTPResponseStartEvent(
            type="http.response.start", status=response.status_code, headers=headers, trailers=False
        )
    )
    await send(HTTPResponseBodyEvent(type="http.response.body", body=response.content, more_body=not is_last))
