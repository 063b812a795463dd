"""Posts and images that are not ready yet, by number (AM).

AM-2, the upload's own type at once, is in `test_suite_settings.py`: it needs a worker.
"""

import json

import httpx
import pytest

from tests.media_api.factory import make_media, make_ready
from tests.media_api.site import form as multipart
from tests.media_api.site import post_form as send_form
from tests.media_api.site import request_head
from vernier.media.models import Media, Version
from vernier.posts.models import Post

pytestmark = pytest.mark.django_db


def url_of(media):
    return f"http://127.0.0.1:8000/media/{media.pk}"


def test_am_1__upload_is_acknowledged_once_its_bytes_are_durable(site, jpeg):
    answer = site.upload(jpeg)
    assert (answer.status_code, answer.json()) == (201, {"url": answer.headers["Location"]})
    with site.rows():
        version = Version.objects.get(media_id=answer.headers["Location"].rpartition("/")[2])
    assert (site.staging / version.staging_key).read_bytes() == jpeg


def test_am_3__photo_that_failed_is_left_out_and_its_author_is_told(micropub, author):
    media = make_media(author, status="failed")
    url = micropub.create(content="Text", photo=url_of(media))
    assert micropub.http.get(f"/media/{media.pk}").status_code == 404
    for page in (url, "http://127.0.0.1:8000/rss.xml"):
        assert str(media.pk) not in micropub.page(page).content.decode()
    assert micropub.http.get("/media?q=source", headers=micropub.headers()).json()["items"][0]["state"] == "failed"


def test_am_4__post_with_a_photo_in_processing_is_created_at_once(micropub, author):
    media = make_media(author, status="pending", contents={})
    url = micropub.create(content="Text", photo=url_of(media))
    assert str(media.pk) not in micropub.page(url).content.decode()
    before = Post.objects.get().shown_updated_at
    make_ready(media)
    assert str(media.pk) in micropub.page(url).content.decode()
    assert Post.objects.get().shown_updated_at > before


@pytest.mark.parametrize("status", ["pending", "processing", "ready", "failed"])
def test_am_5__source_has_the_photos_in_any_state(micropub, author, status):
    photos = [{"value": url_of(make_media(author, status=status)), "alt": alt} for alt in ("First", "Second")]
    url = micropub.create(photo=[photos[0], url_of(make_media(author)), photos[1]])
    source = micropub.source(url)["photo"]
    assert (source[0], source[2], len(source)) == (photos[0], photos[1], 3)


def test_am_6__retry_with_the_same_file_makes_one_post(site, post_form, jpeg):
    sent = ([("photo", jpeg + b"am6")], [("content", "Once")])
    with site.rows():
        before = (Post.objects.count(), Media.objects.count())
    first, second = post_form(*sent), post_form(*sent)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.headers["Location"] == second.headers["Location"]
    with site.rows():
        assert (Post.objects.count(), Media.objects.count()) == (before[0] + 1, before[1] + 1)


def test_am_7__absent_image_is_not_cached(micropub, author):
    answer = micropub.http.get(f"/media/{make_media(author, status='pending').pk}")
    assert (answer.status_code, answer.headers["Cache-Control"]) == (404, "no-store")


@pytest.mark.parametrize("path", ["/micropub", "/media"])
def test_am_8__body_without_a_length_is_refused_with_the_reason(site, jpeg, path):
    body = multipart(('name="photo"; filename="a.jpg"', jpeg))
    headers = site.headers(**{"Content-Type": "multipart/form-data; boundary=b"})
    answer = httpx.post(site.url + path, content=iter([body]), headers=headers, timeout=30)
    assert answer.status_code == 411
    assert "chunked" in answer.json()["error_description"]


@pytest.mark.parametrize(
    ("refused", "word"),
    [
        ((b"%PDF-1.7" + b"x" * 200, 415), "JPEG"),
        ((b"\xff\xd8\xff" + b"x" * 1024 * 1024, 413), "1048576"),
        ((b"", 400), "0 bytes"),
    ],
)
def test_am_9__refused_file_is_named_and_nothing_is_created(site, post_form, jpeg, refused, word):
    content, status = refused
    with site.rows():
        before = (Post.objects.count(), Media.objects.count())
    answer = post_form([("photo", jpeg), ("photo", content)], [("content", "Text")])
    assert answer.status_code == status, answer.text
    assert all(text in answer.json()["error_description"] for text in (word, "“photo”", "photo.jpg"))
    with site.rows():
        assert (Post.objects.count(), Media.objects.count()) == before


def test_am_10__type_is_told_by_the_bytes(site, post_form, source):
    """Orientation, metadata and limits of pixels are the pipeline's: `tests/media/test_corpus.py`."""
    png = b"\x89PNG\r\n\x1a\n" + b"x" * 100
    url = post_form([("photo", png)], [("content", "Called .jpg")]).headers["Location"]
    with site.rows():
        assert Version.objects.get(media_id=source(url)["photo"][0].rpartition("/")[2]).image_type == "png"


def test_form__with_a_fault_in_its_text_keeps_no_file(site, post_form, jpeg, wait_until):
    with site.rows():
        before = Media.objects.count()
    answer = post_form([("photo", jpeg)], [("content", "x"), ("post-status", "nonsense")])
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    theirs = post_form([("photo", jpeg)], [("photo", f"{site.url}/media/b4f708c9-c3ac-4577-8a12-29ee8587ac9b")])
    assert (theirs.status_code, theirs.json()["error"]) == (400, "invalid_request")
    with site.rows():
        assert Media.objects.count() == before
        named = set(Version.objects.exclude(staging_key="").values_list("staging_key", flat=True))
    wait_until(lambda: set(site.staged()) == named)


def test_form__with_files_needs_the_scope_before_its_body_is_read(site):
    token = site.token_for("ann", "media update")
    status, _, body = site.exchange(request_head(site, start="POST /micropub", length=100_000, token=token))
    assert (status, json.loads(body)["error"]) == (401, "insufficient_scope")


def test_form__with_files_takes_its_token_from_a_field_before_them(site, post_form, jpeg):
    before = post_form([("photo", jpeg)], [("access_token", site.token), ("content", "Field")], token="")
    assert before.status_code == 201, before.text
    assert post_form([("photo", jpeg)], [("content", "Nobody")], token="").json()["error"] == "unauthorized"
    wrong = post_form([("photo", jpeg)], [("access_token", "garbage")], token="")
    assert (wrong.status_code, wrong.json()["error"]) == (401, "invalid_token")
    parts = [('name="photo"; filename="a"', jpeg), ('name="access_token"', site.token.encode())]
    status, _, body = send_form(site, multipart(*parts), start="POST /micropub", token="")
    assert status == 400
    assert "access token" in json.loads(body)["error_description"]


def test_form__with_files_elsewhere_names_the_parts_that_may_have_them(site, post_form, jpeg):
    for name in ("video", "audio", "file"):
        answer = post_form([(name, jpeg)], [("content", "x")])
        assert answer.status_code == 400
        assert all(word in answer.json()["error_description"] for word in (name, "“photo”", "“photo[]”"))
