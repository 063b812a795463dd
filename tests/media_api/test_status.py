"""`GET /media/{id}/status`: what an upload's owner learns, and nobody else."""

import threading
import time

import pytest
from django.utils import timezone

from tests.media_api.factory import add_rendition, add_version, make_media, make_ready
from vernier.authors.models import Author
from vernier.media.failures import FailureCode
from vernier.media.models import Version


def status_of(site, media, **more):
    return site.get(f"/media/{media.pk}/status", headers={**site.headers(), **more.pop("headers", {})}, **more)


def test_status__of_a_new_upload(site, jpeg):
    url = site.upload(jpeg).json()["url"]
    response = site.get(f"{url.removeprefix(site.url)}/status", headers=site.headers())
    assert response.status_code == 200
    body = response.json()
    assert body.pop("accepted_at").endswith("Z")
    assert body == {
        "url": url,
        "state": "processing",
        "version": 1,
        "serving_version": None,
        "attempts": 0,
        "next_attempt_at": None,
        "renditions": {"photo": {"state": "missing"}, "fallback": {"state": "missing"}},
        "failure": None,
    }
    assert response.headers["Cache-Control"] == "private, no-cache"
    assert int(response.headers["Retry-After"]) >= 1


def test_status__of_a_ready_media_names_what_is_served(site):
    with site.rows():
        media = make_media(site.author)
    response = status_of(site, media)
    body = response.json()
    assert (body["state"], body["serving_version"]) == ("ready", 1)
    assert body["renditions"]["photo"] == {
        "state": "ready",
        "url": f"{site.url}/media/{media.pk}/v1/photo.avif",
        "width": 400,
        "height": 300,
    }
    assert site.get(body["renditions"]["photo"]["url"].removeprefix(site.url)).status_code == 200
    assert "Retry-After" not in response.headers


def test_status__while_a_replacement_is_processed(site):
    with site.rows():
        media = make_media(site.author)
        version = add_version(media, status="processing", contents={}, attempts=1, width=700, height=500)
        add_rendition(version, "photo", "avif", b"NEW")
    body = status_of(site, media).json()
    assert (body["state"], body["version"], body["serving_version"]) == ("processing", 2, 1)
    assert body["attempts"] == 1
    assert body["renditions"] == {
        "photo": {"state": "ready", "width": 400, "height": 300},
        "w480": {"state": "missing"},
        "fallback": {"state": "missing"},
    }


def test_status__of_a_failure_says_why(site):
    with site.rows():
        media = make_media(site.author, status="failed", contents={})
    body = status_of(site, media).json()
    assert body["state"] == "failed"
    assert body["failure"] == {"code": "truncated", "message": FailureCode.TRUNCATED.label}


def test_status__of_a_retry_says_when(site):
    at = timezone.now() + timezone.timedelta(seconds=90)
    with site.rows():
        media = make_media(
            site.author, status="pending", contents={}, next_attempt_at=at, failure_code="out-of-memory"
        )
    response = status_of(site, media)
    assert response.json()["next_attempt_at"] is not None
    assert response.json()["failure"] is None
    assert 80 < int(response.headers["Retry-After"]) <= 90


def test_status__is_for_its_owner_only(site):
    with site.rows():
        media = make_media(site.author)
    path = f"/media/{media.pk}/status"
    other = site.token_for("bob", "media")
    assert site.get(path).status_code == 404
    assert site.get(path, headers={"Authorization": f"Bearer {other}"}).status_code == 404
    assert site.get(path, headers={"Authorization": "Bearer unknown"}).status_code == 401
    assert site.get("/media/x/status", headers=site.headers()).status_code == 404


def test_status__takes_a_session(site):
    with site.rows():
        media = make_media(site.author)
        site.token_for("bob", "media")
        bob = Author.objects.get(username="bob")
    path = f"/media/{media.pk}/status"
    assert site.get(path, cookies=site.session_cookie(site.author)).status_code == 200
    assert site.get(path, cookies=site.session_cookie(bob)).status_code == 404


def test_status__is_answered_304_while_it_is_the_same(site):
    with site.rows():
        media = make_media(site.author, status="pending", contents={})
    etag = status_of(site, media).headers["ETag"]
    assert status_of(site, media, headers={"If-None-Match": etag}).status_code == 304
    with site.rows():
        make_ready(media)
    assert status_of(site, media, headers={"If-None-Match": etag}).status_code == 200


@pytest.mark.parametrize("wait", ["31", "-1", "x", "", "1.5", "999", "\u0661"])
def test_wait__is_a_number_of_seconds(site, wait):
    with site.rows():
        media = make_media(site.author)
    response = status_of(site, media, params={"wait": wait})
    assert response.status_code == 400
    assert response.json()["error"] == "invalid_request"


def test_wait__ends_with_the_change(site):
    with site.rows():
        media = make_media(site.author, status="pending", contents={})
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(status_of(site, media, params={"wait": "20"})))
    waiting.start()
    started = time.monotonic()
    time.sleep(0.5)
    with site.rows():
        make_ready(media)
    waiting.join()
    assert answers[0].json()["state"] == "ready"
    assert 0.4 < time.monotonic() - started < 20


def test_wait__ends_at_once_for_a_client_that_knows_less(site):
    with site.rows():
        media = make_media(site.author, status="pending", contents={})
    etag = status_of(site, media).headers["ETag"]
    with site.rows():
        Version.objects.filter(media=media).update(attempts=1)
    started = time.monotonic()
    assert status_of(site, media, params={"wait": "20"}, headers={"If-None-Match": etag}).status_code == 200
    assert time.monotonic() - started < 20


def test_wait__ends_with_the_time(site):
    with site.rows():
        media = make_media(site.author, status="pending", contents={})
    started = time.monotonic()
    assert status_of(site, media, params={"wait": "1"}).status_code == 200
    assert time.monotonic() - started > 0.9
