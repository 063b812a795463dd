"""The editor as an author's browser meets it, without a browser."""

from __future__ import annotations

import asyncio
import re
from html import unescape

import httpx
from django.test import Client

# The rows of photos, and what proves where a form is from.
_NOT_THE_POST = {"photo", "alt", "caption", "csrfmiddlewaretoken"}
JPEG = b"\xff\xd8\xff\xe0" + b"\x00" * 60


def hidden(response, name):
    """Return the value of a hidden field of the page."""
    return unescape(re.search(rf'name="{name}" value="([^"]*)"', text_of(response))[1])


def text_of(response):
    content = response.content
    return content if isinstance(content, str) else content.decode()


def fields_of(response):
    """Return what a browser would send for the form of a post, photos excepted."""
    page = text_of(response)
    found = re.findall(r'<input[^>]* name="(\w+)" value="([^"]*)"', page)
    found += re.findall(r'name="(\w+)"[^>]*>\r?\n([^<]*)</textarea>', page)
    fields = {name: unescape(value) for name, value in found}
    for name, options in re.findall(r'<select name="(\w+)"[^>]*>(.*?)</select>', page, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', options)
        fields[name] = chosen[1] if chosen else ""
    return {name: value for name, value in fields.items() if name not in _NOT_THE_POST}


def submit(client, path, page=None, *, action="publish", **changes):
    """Send the form as it is on the page, with these changes."""
    fields = fields_of(page if page is not None else client.get(path))
    return client.post(path, {**fields, "action": action, **changes})


class Browser:
    """Sends forms with files to the whole site, with the session of an author."""

    def __init__(self, author=None):
        self.client = Client()
        if author is not None:
            self.client.force_login(author)
        page = self.client.get("/editor/new" if author is not None else "/login")
        self.token = hidden(page, "csrfmiddlewaretoken")
        self.cookies = {name: morsel.value for name, morsel in self.client.cookies.items()}

    def send(self, path, fields=(), files=(), headers=None):
        """Send a multipart form: fields and files are pairs; a file is its bytes, or a name and bytes."""
        texts = [("csrfmiddlewaretoken", self.token), *fields]
        parts = [(name, (None, text)) for name, text in texts]
        parts += [(name, file if isinstance(file, tuple) else ("a.jpg", file)) for name, file in files]
        return asyncio.run(self._send(path, parts, headers or {}))

    async def _send(self, path, parts, headers):
        from vernier.site.asgi import application

        transport = httpx.ASGITransport(app=application)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://testserver", cookies=self.cookies
        ) as client:
            return await client.post(path, files=parts, headers=headers)
