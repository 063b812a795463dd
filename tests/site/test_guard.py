"""Bodies that are not uploads: small ones arrive whole, others are refused before Django sees them."""

from __future__ import annotations

import asyncio
import json

import pytest

from vernier.site.guard import BODY_BYTES_MAX, BodyGuard


def call(messages, *, headers, app=None):
    """Send the messages of one request through the guard; return what the application got and what was answered."""
    got, sent, rest = [], [], list(messages)

    async def receive():
        if rest:
            return rest.pop(0)
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    async def keep(scope, receive, send):
        got.append(await receive())
        got.append(await receive())

    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers}
    asyncio.run(BodyGuard(app or keep)(scope, receive, send))
    return got, sent, rest


def chunk(content, *, more):
    return {"type": "http.request", "body": content, "more_body": more}


def test_guard__small_body_arrives_in_one_piece():
    got, sent, _ = call([chunk(b"a", more=True), chunk(b"b", more=False)], headers=[(b"content-length", b"2")])
    assert got == [chunk(b"ab", more=False), {"type": "http.disconnect"}]
    assert sent == []


def test_guard__request_without_body_passes_untouched():
    got, _, _ = call([chunk(b"", more=False)], headers=[])
    assert got == [chunk(b"", more=False), {"type": "http.disconnect"}]


@pytest.mark.parametrize("header", [(b"content-length", b"9999999"), (b"transfer-encoding", b"chunked")])
def test_guard__too_large_is_refused_and_not_read_on(header):
    part = chunk(b"x" * 300_000, more=True)
    got, sent, rest = call([part] * 50, headers=[header])
    assert got == []
    assert sent[0]["status"] == 413
    assert json.loads(sent[1]["body"])["error_description"] == f"The body has more than {BODY_BYTES_MAX} bytes."
    assert len(rest) > 40


def test_guard__client_that_goes_is_let_go():
    got, sent, _ = call([chunk(b"a", more=True)], headers=[(b"content-length", b"5")])
    assert (got, sent) == ([], [])
