"""`GET /media/{id}` and the versioned addresses: what readers, caches and feed readers meet."""

import threading
import time

import httpx
import pytest
from django.utils import timezone

from tests.media_api.factory import CONTENTS, add_version, make_media, make_ready
from vernier.media.models import Blob, Media, Version
from vernier.media.variants import Variant

AVIF = CONTENTS["photo"][1]
JPEG = CONTENTS["fallback"][1]
UNKNOWN = "b4f708c9-c3ac-4577-8a12-29ee8587ac9b"


@pytest.fixture(scope="module")
def media(site):
    with site.rows():
        return make_media(site.author)


@pytest.fixture(scope="module")
def patient_site(start_site):
    return start_site(media_api={"WAIT_SECONDS": 3, "COMPATIBLE": True})


def test_media__is_the_avif_of_the_current_version(site, media):
    response = site.get(f"/media/{media.pk}")
    assert response.status_code == 200
    assert response.content == AVIF
    headers = response.headers
    assert headers["Content-Type"] == "image/avif"
    assert headers["Content-Length"] == str(len(AVIF))
    assert headers["Cache-Control"] == "public, no-cache"
    assert "Accept" in headers["Vary"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert headers["Content-Disposition"] == f'inline; filename="{media.pk}-v1-photo.avif"'
    assert "Set-Cookie" not in headers


def test_media__has_the_same_headers_and_no_body_for_head(site, media):
    got, head = (
        site.get(f"/media/{media.pk}"),
        site.exchange(f"HEAD /media/{media.pk} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()),
    )
    assert head[0] == 200
    assert head[2] == b""
    different = {"date", "connection"}
    assert {k: v for k, v in got.headers.items() if k not in different} == {
        k: v for k, v in head[1].items() if k not in different
    }


@pytest.mark.parametrize(
    ("accept", "content"),
    [
        ("*/*", AVIF),
        ("", AVIF),
        ("image/*", AVIF),
        ("text/html,application/xhtml+xml,image/avif,image/webp,*/*;q=0.8", AVIF),
        ("image/avif;q=0.1, image/jpeg", AVIF),
        ("IMAGE/AVIF", AVIF),
        ("image/jpeg", JPEG),
        ("image/webp, image/png", JPEG),
        ("image/avif;q=0, */*", JPEG),
        ("image/avif; q=0.000,image/*", JPEG),
        ("image/*;q=0, */*", JPEG),
        ("text/html", JPEG),
        (";;;,q=,image/avif;q=nan", AVIF),
    ],
)
def test_media__is_negotiated(site, media, accept, content):
    assert site.get(f"/media/{media.pk}", headers={"Accept": accept}).content == content


@pytest.mark.parametrize(
    ("accept", "content"),
    [("*/*", JPEG), ("", JPEG), ("image/*", JPEG), ("image/avif,*/*", AVIF), ("image/avif;q=0", JPEG)],
)
def test_media__of_a_compatible_site_is_avif_only_where_it_is_named(patient_site, accept, content):
    with patient_site.rows():
        media = make_media(patient_site.author)
    assert patient_site.get(f"/media/{media.pk}", headers={"Accept": accept}).content == content


def test_media__of_a_set_without_the_usual_names_is_its_first_variant(site):
    variants = tuple(
        Variant(name=name, format=rule, width_max=9, height_max=9, quality=50)
        for name, rule in (("large", "avif"), ("plain", "png"))
    )
    with site.rows():
        contents = {"plain": ("png", b"PNG"), "large": ("avif", b"LARGE")}
        media = make_media(site.author, variants=variants, contents=contents)
    assert site.get(f"/media/{media.pk}").content == b"LARGE"
    assert site.get(f"/media/{media.pk}", headers={"Accept": "image/png"}).content == b"PNG"


@pytest.mark.parametrize("status", ["pending", "processing", "failed"])
def test_media__is_not_there_until_ready(site, status):
    with site.rows():
        media = make_media(site.author, status=status)
    for path in (f"/media/{media.pk}", f"/media/{media.pk}/v1/photo.avif"):
        assert_not_found(site.get(path))


@pytest.mark.parametrize(
    "path",
    [
        "/media/x",
        f"/media/{UNKNOWN}",
        f"/media/{UNKNOWN.replace('-', '')}",
        "/media/%00",
        "/media/a/b/c/d",
        "/media/" + "9" * 5000,
        f"/media/{UNKNOWN}/v{'9' * 5000}/photo.avif",
        f"/media/{UNKNOWN}/v1/..%2f..%2fphoto.avif",
    ],
)
def test_media__that_does_not_exist_is_json(site, path):
    assert_not_found(site.get(path))


def assert_not_found(response):
    assert response.status_code == 404
    assert response.headers["Cache-Control"] == "no-store"
    assert response.json()["error"] == "not_found"


def test_media__that_is_deleted_is_gone_from_every_address(site):
    with site.rows():
        media = make_media(site.author)
        Media.objects.filter(pk=media.pk).update(current=None, deleted_at=timezone.now())
    for path in (f"/media/{media.pk}", f"/media/{media.pk}/v1/photo.avif"):
        assert_not_found(site.get(path))


def test_media__keeps_serving_the_old_version_until_the_new_one_is_ready(site):
    with site.rows():
        media = make_media(site.author)
        add_version(media, status="processing", contents={"photo": ("avif", b"NEW")})
    assert site.get(f"/media/{media.pk}").content == AVIF
    assert_not_found(site.get(f"/media/{media.pk}/v2/photo.avif"))


def test_media__other_methods_are_json(site, media):
    response = httpx.request("PATCH", f"{site.url}/media/{media.pk}")
    assert response.status_code == 405
    assert response.headers["Allow"] == "GET, HEAD, PUT, DELETE, OPTIONS"
    assert response.json()["error"] == "method_not_allowed"


def test_versioned__is_immutable_for_a_year(site, media):
    response = site.get(f"/media/{media.pk}/v1/fallback.jpg")
    assert response.content == JPEG
    assert response.headers["Content-Type"] == "image/jpeg"
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "Set-Cookie" not in response.headers


@pytest.mark.parametrize(
    "rest", ["v1/fallback.png", "v1/photo", "v2/photo.avif", "v01/photo.avif", "v0/photo.avif", "v1/w480.avif", "v1/"]
)
def test_versioned__that_is_no_rendition_is_not_found(site, media, rest):
    assert_not_found(site.get(f"/media/{media.pk}/{rest}"))


def test_versioned__of_a_superseded_version_lasts_while_its_rows_do(site):
    with site.rows():
        media = make_media(site.author)
        add_version(media, contents={"photo": ("avif", b"NEW")})
        Version.objects.filter(media=media, number=1).update(status="superseded", superseded_at=timezone.now())
    assert site.get(f"/media/{media.pk}/v1/photo.avif").content == AVIF
    assert site.get(f"/media/{media.pk}").content == b"NEW"


def test_versioned__of_a_version_that_was_never_ready_is_not_served(site):
    with site.rows():
        media = make_media(site.author, status="superseded")
    assert_not_found(site.get(f"/media/{media.pk}/v1/photo.avif"))


def test_versioned__without_its_file_is_not_found_and_logged(site):
    with site.rows():
        media = make_media(site.author)
        Blob.objects.filter(key__contains=str(media.pk)).delete()
    assert_not_found(site.get(f"/media/{media.pk}/v1/photo.avif"))
    assert site.get(f"/media/{media.pk}").status_code == 404
    assert str(media.pk) in site.log.read_text()


@pytest.mark.parametrize("path", ["", "/v1/photo.avif"])
def test_conditional__is_answered_304(site, media, path):
    first = site.get(f"/media/{media.pk}{path}")
    for condition in (
        {"If-None-Match": first.headers["ETag"]},
        {"If-None-Match": f'"x", W/{first.headers["ETag"]}'},
        {"If-Modified-Since": first.headers["Last-Modified"]},
    ):
        again = site.get(f"/media/{media.pk}{path}", headers=condition)
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["ETag"] == first.headers["ETag"]
        assert again.headers["Cache-Control"] == first.headers["Cache-Control"]


def test_conditional__is_answered_in_full_when_it_changed(site, media):
    condition = {"If-None-Match": '"x"', "If-Modified-Since": "Tue, 01 Dec 2099 00:00:00 GMT"}
    assert site.get(f"/media/{media.pk}", headers=condition).content == AVIF


def test_conditional__if_match_of_other_bytes_fails_in_json(site, media):
    response = site.get(f"/media/{media.pk}", headers={"If-Match": '"x"'})
    assert response.status_code == 412
    assert response.json()["error"] == "precondition_failed"


@pytest.mark.parametrize(
    ("wanted", "content", "content_range"),
    [
        ("bytes=0-3", AVIF[:4], "bytes 0-3/400"),
        ("bytes=398-", AVIF[398:], "bytes 398-399/400"),
        ("bytes=-3", AVIF[-3:], "bytes 397-399/400"),
        ("bytes=-9999", AVIF, "bytes 0-399/400"),
        ("bytes=10-99999", AVIF[10:], "bytes 10-399/400"),
    ],
)
def test_range__is_answered_206(site, media, wanted, content, content_range):
    response = site.get(f"/media/{media.pk}", headers={"Range": wanted})
    assert response.status_code == 206
    assert response.content == content
    assert response.headers["Content-Range"] == content_range
    assert response.headers["Content-Length"] == str(len(content))


@pytest.mark.parametrize(
    "wanted", ["bytes=0-1,3-4", "bytes=-", "bytes=5-3", "lines=1-2", "bytes=x-", "bytes=" + "9" * 40 + "-", "\xb2"]
)
def test_range__that_means_nothing_here_gives_the_whole(site, media, wanted):
    response = site.get(f"/media/{media.pk}", headers={"Range": wanted.encode("latin-1")})
    assert (response.status_code, response.content) == (200, AVIF)


@pytest.mark.parametrize("wanted", ["bytes=400-", "bytes=999-1000", "bytes=-0"])
def test_range__beyond_the_end_is_416(site, media, wanted):
    response = site.get(f"/media/{media.pk}", headers={"Range": wanted})
    assert response.status_code == 416
    assert response.headers["Content-Range"] == "bytes */400"


def test_range__holds_only_for_the_bytes_that_if_range_names(site, media):
    etag = site.get(f"/media/{media.pk}").headers["ETag"]
    statuses = [
        site.get(f"/media/{media.pk}", headers={"Range": "bytes=0-3", "If-Range": known}).status_code
        for known in (etag, '"x"', f"W/{etag}", "Tue, 01 Dec 2099 00:00:00 GMT")
    ]
    assert statuses == [206, 200, 200, 200]


def test_wait__ends_when_the_media_is_ready(patient_site):
    with patient_site.rows():
        media = make_media(patient_site.author, status="pending", contents={})
    answers = []
    readers = [
        threading.Thread(target=lambda: answers.append(patient_site.get(f"/media/{media.pk}"))) for _ in range(20)
    ]
    started = time.monotonic()
    for reader in readers:
        reader.start()
    time.sleep(0.7)
    assert patient_site.get("/media/unknown").status_code == 404
    with patient_site.rows():
        make_ready(media)
    for reader in readers:
        reader.join()
    assert {answer.status_code for answer in answers} == {200}
    assert time.monotonic() - started > 0.7


def test_wait__ends_with_a_404(patient_site):
    with patient_site.rows():
        media = make_media(patient_site.author, status="pending", contents={})
    started = time.monotonic()
    assert patient_site.get(f"/media/{media.pk}").status_code == 404
    assert time.monotonic() - started > 2.9


@pytest.mark.parametrize("make", [lambda author: make_media(author, status="failed").pk, lambda author: UNKNOWN])
def test_wait__is_for_unfinished_media_only(patient_site, make):
    with patient_site.rows():
        media_id = make(patient_site.author)
    started = time.monotonic()
    assert patient_site.get(f"/media/{media_id}").status_code == 404
    # It was not held for the three seconds.
    assert time.monotonic() - started < 2.9
