"""A real server in a process of its own, on a database and a staging directory of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
from django.contrib.sessions.backends.signed_cookies import SessionStore
from django.db import connections
from django.db.utils import load_backend
from django.test import override_settings

from vernier.authors.models import Author, issue_token

START_SECONDS = 20
HEADER_END = b"\r\n\r\n"


class Site:
    """Starts the server; `rows()` makes this process look at its database."""

    def __init__(
        self,
        directory: Path,
        template: Path,
        blocker,
        *,
        media=None,
        media_api=None,
        prefix=(),
        env=None,
        server="tests.media_api.server",
    ):
        self.staging = directory / "staging"
        self.staging.mkdir(parents=True, exist_ok=True)
        self.database = directory / "site.db"
        shutil.copy(template, self.database)
        self._blocker = blocker
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self._socket.getsockname()[1]
        self.address = ("127.0.0.1", self.port)
        self.url = f"http://127.0.0.1:{self.port}"
        given = {
            "database": str(self.database),
            "staging": str(self.staging),
            "media": media or {},
            "media_api": media_api or {},
        }
        self.log = directory / "server.log"
        descriptor = self._socket.fileno()
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*prefix, sys.executable, "-m", server, str(descriptor)],
                pass_fds=[descriptor],
                env={**os.environ, "MEDIA_API_SITE": json.dumps(given), **(env or {})},
                stdout=log,
                stderr=log,
            )
        with self.rows():
            self.author = Author.objects.create_user("ann")
            self.token = issue_token(self.author, scope="create update delete media")
        self._wait_until_up()

    def _wait_until_up(self):
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                httpx.get(f"{self.url}/media/unknown", timeout=START_SECONDS)
            except httpx.HTTPError:
                assert self.process.poll() is None, self.log.read_text()
                assert time.monotonic() < deadline, self.log.read_text()
                time.sleep(0.05)
            else:
                return

    def stop(self):
        """Send SIGTERM and return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(15)
        self._socket.close()
        return code

    def stop_traced(self):
        """Stop a server that is the child of a tracer, which ends with it."""
        for child in psutil.Process(self.process.pid).children():
            child.terminate()
        self.process.wait(15)

    @contextmanager
    def rows(self):
        """Within, the models of this process are those of the server's database."""
        mine = connections["default"]
        settings = {**mine.settings_dict, "NAME": str(self.database)}
        theirs = load_backend(settings["ENGINE"]).DatabaseWrapper(settings, "default")
        with self._blocker.unblock():
            connections["default"] = theirs
            try:
                yield
            finally:
                theirs.close()
                connections["default"] = mine

    def token_for(self, name, scope):
        with self.rows():
            author = Author.objects.filter(username=name).first() or Author.objects.create_user(name)
            return issue_token(author, scope=scope)

    def headers(self, **more):
        return {"Authorization": f"Bearer {self.token}", **more}

    def session_cookie(self, author):
        """Return the cookie of a logged-in author."""
        with self.rows(), override_settings(SECRET_KEY="test"):
            store = SessionStore()
            store["_auth_user_id"] = str(author.pk)
            store["_auth_user_backend"] = "django.contrib.auth.backends.ModelBackend"
            store["_auth_user_hash"] = author.get_session_auth_hash()
            store.save()
            return {"sessionid": store.session_key}

    def upload(self, content, *, name="file", headers=None, **more):
        return httpx.post(
            f"{self.url}/media",
            files={name: ("photo.jpg", content, "image/jpeg")},
            headers={**self.headers(), **(headers or {})},
            timeout=30,
            **more,
        )

    def put(self, media_id, content, *, headers=None, **more):
        """Replace with the raw bytes as the body."""
        return httpx.put(
            f"{self.url}/media/{media_id}",
            content=content,
            headers={**self.headers(), **(headers or {})},
            timeout=30,
            **more,
        )

    def delete(self, media_id, *, headers=None):
        return httpx.delete(f"{self.url}/media/{media_id}", headers={**self.headers(), **(headers or {})}, timeout=30)

    def get(self, path, **more):
        return httpx.get(f"{self.url}{path}", timeout=40, **more)

    def staged(self):
        return sorted(path.name for path in self.staging.rglob("*") if path.is_file())

    def connect(self):
        return socket.create_connection(self.address, timeout=20)

    def exchange(self, head, body=b""):
        """Send raw bytes on a new connection, and return the status and everything after the first CRLF CRLF."""
        with self.connect() as connection:
            connection.sendall(head + body)
            return read_response(connection)


def request_head(
    site, *, start="POST /media", length=None, content_type="multipart/form-data; boundary=b", token=None, more=()
):
    """Return the head of a POST /media, or of the request whose method and path are given."""
    lines = [f"{start} HTTP/1.1", f"Host: 127.0.0.1:{site.port}"]
    if token != "":
        lines.append(f"Authorization: Bearer {token or site.token}")
    if content_type:
        lines.append(f"Content-Type: {content_type}")
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return "\r\n".join([*lines, *more, "", ""]).encode()


def form(*parts, boundary="b", end="--"):
    """Return a multipart body; a part is (disposition parameters, content) or (..., content, more header lines)."""
    body = b""
    for parameters, content, *lines in parts:
        head = "\r\n".join([f"Content-Disposition: form-data; {parameters}", *lines])
        body += f"--{boundary}\r\n{head}\r\n\r\n".encode() + content + b"\r\n"
    return body + f"--{boundary}{end}\r\n".encode()


def post_form(site, body, **more):
    return site.exchange(request_head(site, length=len(body), **more), body)


def read_response(connection):
    """Return status, headers (lower case) and body of one response."""
    received = b""
    while HEADER_END not in received:
        chunk = connection.recv(65536)
        if not chunk:
            return None, {}, received
        received += chunk
    head, _, body = received.partition(HEADER_END)
    status, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        chunk = connection.recv(65536)
        if not chunk:
            break
        body += chunk
    return int(status.split()[1]), headers, body
