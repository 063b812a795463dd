"""What a request is answered that is still held or at work when the server stops."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from vernier.media_api.respond import respond_stopping

if TYPE_CHECKING:
    from asgiref.typing import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, ASGISendEvent, Scope


class Stopping:
    """An ASGI application that answers 503, and no failure, for what the stopping server takes from `app`."""

    def __init__(self, app: ASGI3Application) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        has_begun = False

        async def note(event: ASGISendEvent) -> None:
            nonlocal has_begun
            has_begun = True
            await send(event)

        try:
            await self._app(scope, receive, note)
        except asyncio.CancelledError:
            # Half an answer cannot be taken back: the connection ends with it.
            if has_begun:
                raise
            await respond_stopping(send)
