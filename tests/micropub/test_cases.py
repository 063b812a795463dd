"""Faults that users of comparable systems reported, by their numbers in the project's list of cases."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from django.utils import timezone

from tests.media_api.factory import make_media
from tests.media_api.site import form as multipart
from tests.media_api.site import post_form as send_form
from tests.micropub.test_specification import assert_refused
from vernier.media.models import Media
from vernier.posts.models import Post, RetryKey

pytestmark = pytest.mark.django_db
FORM = {"h": "entry", "content": "The same words"}


def test_u1__key_makes_a_retry_the_same_post(micropub):
    first, second = (micropub.form(FORM, **{"Idempotency-Key": "k1"}) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.headers["Location"] == second.headers["Location"]
    other = micropub.form({**FORM, "content": "Other words"}, **{"Idempotency-Key": "k1"})
    assert_refused(other, "Idempotency-Key", status=422, error="key_reused")
    assert micropub.form(FORM, **{"Idempotency-Key": "k2"}).headers["Location"] != first.headers["Location"]
    assert_refused(micropub.form(FORM, **{"Idempotency-Key": "k" * 256}), "Idempotency-Key")


def test_u1__key_is_the_authors_whatever_token_comes_with_it(micropub, client_with, stranger):
    first = micropub.form(FORM, **{"Idempotency-Key": "k"}).headers["Location"]
    assert client_with().form(FORM, **{"Idempotency-Key": "k"}).headers["Location"] == first
    assert stranger.form(FORM, **{"Idempotency-Key": "k"}).headers["Location"] != first


def test_u1__key_makes_a_retry_with_files_the_same_post(site, post_form, jpeg):
    sent, key = ([("photo", jpeg)], [("content", "Keyed")]), {"Idempotency-Key": "u1"}
    first, second = post_form(*sent, headers=key), post_form(*sent, headers=key)
    assert first.headers["Location"] == second.headers["Location"]
    assert post_form([("photo", jpeg + b"x")], sent[1], headers=key).status_code == 422


def test_u1__retry_after_its_photo_was_deleted_is_still_the_same_post(site, post_form, source, jpeg):
    sent = ([("photo", jpeg + b"u1")], [("content", "Photo deleted meanwhile")])
    url = post_form(*sent).headers["Location"]
    site.delete(source(url)["photo"][0].rpartition("/")[2])
    with site.rows():
        before = Media.objects.count()
    assert post_form(*sent).headers["Location"] == url
    with site.rows():
        assert Media.objects.count() == before


def test_u2__simultaneous_retries_make_one_post(site, post_form, jpeg):
    sent = ([("photo", jpeg + b"u2")], [("content", "At once")])
    with site.rows():
        before = Media.objects.count()
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda _: post_form(*sent), range(6)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.headers["Location"] for answer in answers}) == 1
    with site.rows():
        assert Media.objects.count() == before + 1


def test_u4__create_is_answered_before_its_photo_is_processed(site, post_form, source, jpeg):
    """No worker runs beside this server."""
    url = post_form([("photo", jpeg)], [("content", "At once")]).headers["Location"]
    assert httpx.get(source(url)["photo"][0]).status_code == 404


def test_u5__image_with_too_many_pixels_is_a_failure_of_the_job_and_not_of_the_request(micropub, author):
    media = make_media(author, status="failed", failure_code="too-many-pixels")
    micropub.create(photo=f"http://127.0.0.1:8000/media/{media.pk}")
    assert micropub.http.get("/media?q=source", headers=micropub.headers()).json()["items"][0]["state"] == "failed"


def test_u6__chunked_form_is_refused_with_the_reason(site, jpeg):
    body = multipart(('name="photo"; filename="a.jpg"', jpeg))
    headers = site.headers(**{"Content-Type": "multipart/form-data; boundary=b"})
    answer = httpx.post(f"{site.url}/micropub", content=iter([body]), headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (411, "length_required")


def test_u7__address_is_in_the_header_and_in_the_body(micropub):
    answer = micropub.form(FORM)
    assert answer.json() == {"url": answer.headers["Location"]}


def test_u8__photo_without_type_or_name_is_accepted(site, source, jpeg):
    parts = [
        ('name="photo"; filename="IMG"', jpeg),
        ('name="photo"', jpeg + b"1", "Content-Type: image/jpeg"),
        ("name=photo; filename=", jpeg + b"2"),
        ('filename="x.jpg"; name="photo[]"', jpeg + b"3", "Content-Type: application/octet-stream"),
        ('name="photo"', jpeg + b"4", "Content-Type: application/octet-stream"),
        ('name="photo"', b"https://photos.example/a.jpg", "Content-Type: text/plain; charset=utf-8"),
    ]
    status, headers, body = send_form(site, multipart(*parts), start="POST /micropub")
    assert status == 201, body
    assert len(source(headers["location"])["photo"]) == 6


def test_u9__one_photo_is_stored_once(site, post_form, source, jpeg):
    with site.rows():
        before = Media.objects.count()
    url = post_form([("photo", jpeg + b"u9")], [("content", "One")]).headers["Location"]
    with site.rows():
        assert Media.objects.count() == before + 1
    assert len(source(url)["photo"]) == 1


def test_u10__photos_keep_their_order_files_and_urls_mixed(site, source, jpeg):
    links = ["https://photos.example/1.jpg", "https://photos.example/3.jpg"]
    parts = [
        ('name="photo[]"', links[0].encode()),
        ('name="photo"; filename="2.jpg"', jpeg + b"22"),
        ('name="photo"', links[1].encode()),
        ('name="photo[]"; filename="4.jpg"', jpeg + b"4444"),
    ]
    status, headers, body = send_form(site, multipart(*parts), start="POST /micropub")
    assert status == 201, body
    first, second, third, fourth = source(headers["location"])["photo"]
    assert [first, third] == links
    with site.rows():
        sizes = [Media.objects.get(pk=url.rpartition("/")[2]).versions.get().byte_size for url in (second, fourth)]
    assert sizes == [len(jpeg) + 2, len(jpeg) + 4]


@pytest.mark.parametrize("name", ["name", "summary", "category", "in-reply-to", "published", "mp-slug", "photo"])
def test_m1__empty_means_absent(micropub, name):
    by_form = micropub.form({"content": f"Text of {name}", name: ""}).headers["Location"]
    by_json = micropub.json({"properties": {"content": [f"Json {name}"], name: [""]}}).headers["Location"]
    for url in (by_form, by_json):
        present = set(micropub.source(url)) - {"published"}
        assert present == {"content", "updated", "post-status", "visibility", "url", "uid"}


def test_m1__null_means_absent(micropub):
    photo = {"value": "https://photos.example/a.jpg", "alt": None, "caption": None}
    url = micropub.create(content="Text", photo=photo, name=None, published=None, category=None)
    assert micropub.source(url, "photo", "name", "category") == {"photo": ["https://photos.example/a.jpg"]}


@pytest.mark.parametrize("name", ["like-of", "repost-of", "bookmark-of"])
def test_m2__response_without_content_is_valid(micropub, name):
    url = micropub.form({"h": "entry", name: "https://x.example/post"}).headers["Location"]
    assert micropub.source(url)[name] == ["https://x.example/post"]


def test_m2__post_that_says_nothing_is_refused(micropub):
    for answer in (micropub.form({"h": "entry"}), micropub.json({"properties": {}}), micropub.form({"content": " "})):
        assert_refused(answer, "empty")
    assert not Post.objects.exists()


def test_m3__offset_of_the_client_is_kept(micropub, settings):
    settings.TIME_ZONE = "Europe/Berlin"
    url = micropub.form({"content": "x", "published": "2026-03-29T02:30:00-05:00"}).headers["Location"]
    assert micropub.source(url)["published"] == ["2026-03-29T02:30:00-05:00"]
    assert_refused(micropub.form({"content": "y", "published": "tomorrow"}), "published", "tomorrow")


def test_m4__html_in_a_plain_string_is_text(micropub):
    text = micropub.create(content="<b>not bold</b><script>alert(1)</script>")
    html = micropub.create(content={"html": "<b>bold</b><script>alert(1)</script>"})
    assert "&lt;b&gt;not bold" in micropub.page(text).content.decode()
    page = micropub.page(html).content.decode()
    assert "<b>bold</b>" in page
    assert "alert(1)" not in page


def test_m5__update_leaves_what_the_client_does_not_know(micropub):
    nested = {"type": ["h-cite"], "properties": {"name": ["A page"], "url": ["https://x.example/"]}}
    url = micropub.create(content="Text", in_reply_to=nested, syndication=["a", "b"], x_own={"deep": [1, None, 2.5]})
    before = micropub.source(url)
    micropub.update(url, replace={"content": ["New"]})
    after = micropub.source(url)
    assert {name for name in before if before[name] != after[name]} == {"content", "updated"}


def test_m6__old_address_is_the_posts_and_location_is_canonical(micropub):
    old = micropub.create(content="Old name")
    new = micropub.update(old, replace={"mp-slug": ["new-name"]}).headers["Location"]
    for address in (old, new, f"{new}/", f"{new}#x", new.replace("http:", "https:")):
        assert micropub.source(address)["url"] == [new]


def test_m7__errors_are_json_below_the_endpoint_too(micropub):
    for path, method in (("/micropub/", "get"), ("/micropub/x", "post"), ("/micropub/x/y?q=config", "get")):
        answer = getattr(micropub.http, method)(path, headers=micropub.headers())
        assert_refused(answer, status=404, error="not_found")
    for method in ("put", "patch", "delete"):
        answer = getattr(micropub.http, method)("/micropub", headers=micropub.headers())
        assert_refused(answer, "GET", "POST", status=405, error="method_not_allowed")


def test_m8__same_token_and_body_within_five_minutes_are_one_post(micropub, client_with):
    first = micropub.form(FORM).headers["Location"]
    assert micropub.form(FORM).headers["Location"] == first
    assert micropub.form({**FORM, "access_token": micropub.token}).headers["Location"] == first
    assert client_with().form(FORM).headers["Location"] != first
    RetryKey.objects.update(expires_at=timezone.now())
    assert micropub.form(FORM).headers["Location"] != first


def test_m8__post_that_was_deleted_meanwhile_can_be_written_again(micropub):
    first = micropub.form(FORM).headers["Location"]
    micropub.act("delete", first)
    again = micropub.form(FORM)
    assert again.status_code == 201
    assert again.headers["Location"] != first


def test_m9__unknown_status_is_never_published_by_accident(micropub):
    url = micropub.create(content="Draft", post_status="draft")
    for answer in (
        micropub.form({"content": "x", "post-status": "publish"}),
        micropub.update(url, replace={"post-status": ["live"]}),
    ):
        assert_refused(answer, "post-status", "draft, published")
    assert micropub.source(url)["post-status"] == ["draft"]


def test_m10__media_endpoint_asks_for_a_scope(site, jpeg):
    for scope, status in (("create", 201), ("media", 201), ("update", 401), ("profile", 401), ("draft", 401)):
        token = site.token_for("ann", scope)
        assert site.upload(jpeg, headers={"Authorization": f"Bearer {token}"}).status_code == status


def test_i4__scripts_of_other_sites_are_answered(micropub):
    preflight = micropub.http.options("/micropub", headers={"Access-Control-Request-Method": "POST"})
    assert (preflight.status_code, preflight.headers["Access-Control-Allow-Origin"]) == (204, "*")
    assert "Authorization" in preflight.headers["Access-Control-Allow-Headers"]
    answer = micropub.form(FORM, Origin="https://app.example")
    assert "Location" in answer.headers["Access-Control-Expose-Headers"]
