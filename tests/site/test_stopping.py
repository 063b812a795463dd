"""A server that stops says so to whoever still waits."""

from __future__ import annotations

import asyncio

import pytest

from vernier.site.stopping import Stopping


def cut(app):
    """Let the application begin, cancel it as a stopping server does, and return what was sent."""
    sent = []

    async def send(event):
        sent.append(event)

    async def run():
        request = asyncio.create_task(Stopping(app)({"type": "http"}, None, send))
        await asyncio.sleep(0)
        request.cancel()
        try:
            await request
        finally:
            assert request.done()

    return sent, run


def test_stopping__request_that_waits_is_told_to_come_again():
    async def wait(scope, receive, send):
        await asyncio.sleep(60)

    sent, run = cut(wait)
    asyncio.run(run())
    assert [event.get("status") for event in sent] == [503, None]
    assert b"retry-after" in dict(sent[0]["headers"])


def test_stopping__answer_that_has_begun_is_not_followed_by_another():
    start = {"type": "http.response.start", "status": 200, "headers": []}

    async def begin(scope, receive, send):
        await send(start)
        await asyncio.sleep(60)

    sent, run = cut(begin)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
    assert sent == [start]
