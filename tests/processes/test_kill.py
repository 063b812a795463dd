"""Kill real processes while photos are uploaded and processed; every acknowledged upload must come out right."""

from __future__ import annotations

import itertools
import random
import threading
import time
from uuid import uuid4

import httpx
import psutil
import pytest

from tests.processes.photos import Photo, looks_alike, photos
from tests.processes.server import Server, running, wait_until

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("processes")]

KILLS = 24
# Kills that hit nothing do not count; so many tries are enough on a machine ten times as slow.
TRIES_MAX = 400
SETTLE_SECONDS_MAX = 240
# At least so many, and on until enough kills have landed: there must be something to kill.
UPLOADS_MIN = 16
UPLOADS_MAX = 200
# An upload takes about half a second, so that kills can land in it.
UPLOAD_CHUNK_BYTES = 64 * 1024
UPLOAD_PAUSE_SECONDS = 0.008


class Client(threading.Thread):
    """An author who uploads photos, replaces some and deletes some, and repeats what was not acknowledged."""

    def __init__(self, server: Server, token: str) -> None:
        super().__init__(daemon=True)
        self.server, self.token = server, token
        self.is_sending = threading.Event()
        self.enough = threading.Event()
        # What must be served where; None where it was deleted.
        self.expected: dict[str, Photo | None] = {}
        self.unexpected: list[str] = []

    def run(self) -> None:
        for number, photo in enumerate(itertools.islice(itertools.cycle(photos()), UPLOADS_MAX)):
            if number >= UPLOADS_MIN and self.enough.is_set():
                return
            location = self._until_acknowledged(self._send_post, photo, str(uuid4()))
            self.expected[location] = photo
            if number % 4 == 1:
                other = photos()[(number + 1) % len(photos())]
                self._until_acknowledged(self._send_put, location, other, str(uuid4()))
                self.expected[location] = other
            elif number % 8 == 7:
                self._until_acknowledged(self._send_delete, location)
                self.expected[location] = None

    def _until_acknowledged(self, request, *arguments):
        while True:
            try:
                answer = request(*arguments)
            except httpx.TransportError:
                answer = None
            finally:
                self.is_sending.clear()
            if answer is not None and answer.status_code in {201, 202, 204}:
                return answer.headers.get("Location")
            # A server that is about to end says so; anything else is a fault.
            if answer is not None and answer.status_code != 503:
                self.unexpected.append(f"{answer.status_code} {answer.text}")
            time.sleep(0.1)

    def _send_put(self, location: str, photo: Photo, key: str) -> httpx.Response:
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Length": str(len(photo.content)),
            "Idempotency-Key": key,
        }
        return httpx.put(location, content=self._slowly(photo.content), headers=headers, timeout=30)

    def _send_delete(self, location: str) -> httpx.Response:
        return httpx.delete(location, headers={"Authorization": f"Bearer {self.token}"}, timeout=30)

    def _send_post(self, photo: Photo, key: str) -> httpx.Response:
        head = f'--edge\r\nContent-Disposition: form-data; name="file"; filename="{photo.name}"\r\n\r\n'.encode()
        body = head + photo.content + b"\r\n--edge--\r\n"
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "multipart/form-data; boundary=edge",
            "Content-Length": str(len(body)),
            "Idempotency-Key": key,
        }
        return httpx.post(f"{self.server.url}/media", content=self._slowly(body), headers=headers, timeout=30)

    def _slowly(self, body: bytes):
        for start in range(0, len(body), UPLOAD_CHUNK_BYTES):
            self.is_sending.set()
            yield body[start : start + UPLOAD_CHUNK_BYTES]
            time.sleep(UPLOAD_PAUSE_SECONDS)


def test_kill__every_acknowledged_upload_is_ready_and_right(tmp_path):
    server = Server(
        tmp_path / "data",
        workers=2,
        lease_seconds=5,
        reconcile_seconds=1,
        backoff_seconds=1,
        cleanup_grace_seconds=5,
        # A photo may be killed more often here than in a lifetime.
        max_attempts=100,
    )
    with running(server):
        client = Client(server, server.token())
        client.start()
        kills = _kill_until_enough(server, client)
        client.enough.set()
        print(f"kills that landed in the middle of something: {kills}")
        client.join(timeout=120)
        assert not client.is_alive()
        server.kill()
        server.start()
        wait_until(lambda: not _unfinished(server), SETTLE_SECONDS_MAX, "work is left unfinished")
        wait_until(lambda: not _to_clean_up(server), SETTLE_SECONDS_MAX, "files are left behind")
        _check(server, client)
        # The orphans of uploads that a kill cut off are the sweep's; one such kill leaves at most one.
        assert len(server.staged()) <= kills["web"] + kills["serve"]
        assert server.stop() == 0


def _kill_until_enough(server: Server, client: Client) -> dict[str, int]:
    chance, kills = random.Random(20261130), {"worker": 0, "web": 0, "serve": 0}
    for _ in range(TRIES_MAX):
        if sum(kills.values()) >= KILLS:
            return kills
        time.sleep(chance.uniform(0.2, 1.2))
        role = chance.choice(["worker", "worker", "web", "serve"])
        if role == "serve" and kills["serve"] < 4 and _is_rendering(server):
            server.kill()
            kills[role] += 1
            server.start()
        elif (role == "worker" and _is_rendering(server)) or (role == "web" and client.is_sending.is_set()):
            kills[role] += _kill_one(server, role)
    pytest.fail(f"only {kills} of {KILLS} kills landed in the middle of something")


def _kill_one(server: Server, role: str) -> bool:
    victims = server.children(role)
    if not victims:
        return False
    try:
        victims[0].kill()
    except psutil.NoSuchProcess:
        return False
    return True


def _is_rendering(server: Server) -> bool:
    return bool(server.rows("SELECT 1 FROM media_version WHERE status = 'processing' LIMIT 1"))


def _to_clean_up(server: Server) -> list[tuple]:
    """Clean-ups without a grace or after it, and staged originals of what has ended."""
    return server.rows(
        "SELECT id FROM media_version WHERE cleanup_at IS NOT NULL AND cleaned_at IS NULL"
        " UNION ALL SELECT id FROM media_version WHERE staging_key != ''"
        " UNION ALL SELECT id FROM media_media WHERE cleanup_at IS NOT NULL AND cleaned_at IS NULL"
    )


def _unfinished(server: Server) -> list[tuple]:
    return server.rows("SELECT id FROM media_version WHERE status IN ('pending', 'processing')")


def _check(server: Server, client: Client) -> None:
    assert client.unexpected == []
    assert len(client.expected) >= UPLOADS_MIN
    for location, photo in client.expected.items():
        served = httpx.get(location, headers={"Accept": "image/avif"})
        if photo is None:
            assert served.status_code == 404
            continue
        assert (served.status_code, served.headers["Content-Type"]) == (200, "image/avif")
        assert looks_alike(photo, served.content), photo.name
    kept = sum(photo is not None for photo in client.expected.values())
    assert server.rows("SELECT count(*) FROM media_media WHERE current_id IS NOT NULL") == [(kept,)]
    assert server.rows("SELECT count(*) FROM media_version WHERE status NOT IN ('ready', 'superseded')") == [(0,)]
    # The same key is the same upload, however often its answer was lost.
    assert server.rows("SELECT count(*) FROM media_media") == [(len(client.expected),)]
    named = {key for (key,) in server.rows("SELECT storage_key FROM media_rendition")}
    assert named == {key for (key,) in server.rows("SELECT key FROM media_blob")}
    assert server.rows("SELECT count(*) FROM media_version WHERE staging_key != ''") == [(0,)]
    assert server.rows("PRAGMA integrity_check") == [("ok",)]
