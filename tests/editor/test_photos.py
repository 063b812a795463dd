"""Photos on their way in: with the form, and one by one."""

from uuid import uuid4

import httpx
import pytest

from tests.editor.pages import JPEG, Browser
from tests.media_api.factory import make_media
from vernier.media.models import Media, Version
from vernier.posts.models import Post

SCRIPT = {"Accept": "application/json"}


def post_form(browser, *, files=(), action="publish", path="/editor/new", **fields):
    return browser.send(path, [*fields.items(), ("action", action)], files)


def test_form_with_files__attaches_them_and_asks_for_alt_texts(browser):
    answer = post_form(browser, content="Two.", token="t", files=[("files", JPEG), ("files", JPEG + b"2")])
    post = Post.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/editor/posts/{post.pk}#photos")
    assert post.photos.count() == Media.objects.count() == 2


def test_form_with_files__sent_twice_makes_one_post_and_its_photos_once(browser):
    for _ in range(2):
        answer = post_form(browser, content="Once.", token="t", files=[("files", JPEG), ("files", JPEG + b"2")])
        assert answer.status_code == 302
    assert (Post.objects.count(), Media.objects.count()) == (1, 2)


def test_refused_file__keeps_text_and_other_photos_and_tells_why(browser):
    files = [("files", ("notes.txt", b"no image")), ("files", JPEG)]
    answer = post_form(browser, content="A long text.", token="t", files=files)
    assert answer.status_code == 422
    assert "notes.txt: This is not an image of a known type; accepted are JPEG, PNG, WEBP." in answer.text
    assert "A long text." in answer.text
    assert str(Media.objects.get().pk) in answer.text
    assert not Post.objects.exists()


def test_photos__can_be_moved_in_the_form_that_brings_them(browser):
    answer = post_form(
        browser, content="Text", token="t", action="up:1", files=[("files", JPEG), ("files", JPEG + b"2")]
    )
    first, second = Media.objects.order_by("created_at")
    assert answer.text.index(str(second.pk)) < answer.text.index(str(first.pk))
    assert not Post.objects.exists()


def test_file_in_the_row_of_a_photo__takes_its_place(browser, author):
    one, two = make_media(author), make_media(author, status="failed", contents={})
    fields = [("photo", str(one.pk)), ("alt", "One"), ("photo", str(two.pk)), ("alt", "Two")]
    parts = [*((name, (None, text)) for name, text in fields), ("replacement", ("b.jpg", JPEG))]
    answer = browser.send("/editor/new", [("content", "Text"), ("token", "t"), ("action", "publish")], parts)
    assert answer.status_code == 302
    assert (Media.objects.get(pk=one.pk).newest_number, Media.objects.get(pk=two.pk).newest_number) == (1, 2)
    assert [(photo.media_id, photo.alt) for photo in Post.objects.get().photos.all()] == [
        (one.pk, "One"),
        (two.pk, "Two"),
    ]


def test_file_in_the_row_of_somebody_elses_photo__is_refused(browser, other_author):
    theirs = make_media(other_author)
    parts = [("photo", (None, str(theirs.pk))), ("replacement", ("b.jpg", JPEG))]
    answer = browser.send("/editor/new", [("content", "Text"), ("token", "t")], parts)
    assert answer.status_code == 422
    assert Media.objects.get().newest_number == 1


def test_form_with_files__of_a_signed_out_author_keeps_the_text_and_no_file(transactional_db, author):
    answer = post_form(Browser(), content="A long text.", files=[("files", JPEG)])
    assert answer.status_code == 403
    assert "A long text." in answer.text
    assert "have to be chosen again" in answer.text
    assert not Media.objects.exists()


def test_form_with_files__that_fails_the_csrf_check_keeps_the_text_and_no_file(browser):
    browser.token = "x" * 64
    answer = post_form(browser, content="A long text.", files=[("files", JPEG)])
    assert answer.status_code == 403
    assert "A long text." in answer.text
    assert not Media.objects.exists()


def test_single_photo__is_accepted_once_for_each_key(browser):
    answers = [
        browser.send("/editor/photos", files=[("file", JPEG)], headers={**SCRIPT, "Idempotency-Key": key})
        for key in ("a", "a", "b")
    ]
    assert [answer.status_code for answer in answers] == [201, 201, 201]
    first, second, third = (answer.json()["id"] for answer in answers)
    assert first == second != third
    assert answers[0].json()["url"].endswith(f"/media/{first}")
    assert {str(media.owner) for media in Media.objects.all()} == {"alice"}


@pytest.mark.parametrize(
    ("files", "status", "error"),
    [
        ([("file", b"no image")], 415, "unsupported_type"),
        ([("file", b"")], 400, "invalid_request"),
        ([], 400, "invalid_request"),
        ([("file", JPEG), ("file", JPEG)], 400, "invalid_request"),
        ([("other", JPEG)], 400, "invalid_request"),
    ],
)
def test_single_photo__that_is_refused_gets_a_reason(browser, files, status, error):
    answer = browser.send("/editor/photos", [("x", "y")], files, SCRIPT)
    assert (answer.status_code, answer.json()["error"]) == (status, error)
    assert answer.json()["error_description"].endswith(".")
    assert not Media.objects.exists()


def test_single_photo__of_nobody_is_refused_before_its_body(transactional_db, author):
    answer = Browser().send("/editor/photos", files=[("file", JPEG)], headers=SCRIPT)
    assert (answer.status_code, answer.json()["error"]) == (401, "signed_out")


def test_single_photo__that_fails_the_csrf_check_is_refused(browser):
    browser.token = "x" * 64
    answer = browser.send("/editor/photos", files=[("file", JPEG)], headers=SCRIPT)
    assert (answer.status_code, answer.json()["error"]) == (403, "csrf_failed")
    assert not Media.objects.exists()


def test_replacement__keeps_the_image_and_makes_a_version(browser, author):
    media = make_media(author)
    answer = browser.send(f"/editor/media/{media.pk}/replace", files=[("file", JPEG)], headers=SCRIPT)
    assert (answer.status_code, answer.json()["id"], answer.json()["version"]) == (202, str(media.pk), 2)
    assert Version.objects.get(number=2).status == "pending"


def test_replacement__without_scripts_leads_to_the_page_of_the_image(browser, author):
    media = make_media(author)
    answer = browser.send(f"/editor/media/{media.pk}/replace", files=[("file", JPEG)])
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/editor/media/{media.pk}")
    assert Media.objects.get().newest_number == 2


def test_replacement__of_somebody_elses_image_is_not_found(browser, other_author):
    media = make_media(other_author)
    for media_id in (media.pk, uuid4()):
        answer = browser.send(f"/editor/media/{media_id}/replace", files=[("file", JPEG)], headers=SCRIPT)
        assert answer.status_code == 404
    assert Media.objects.get().newest_number == 1


def test_form_that_is_no_form__is_told_so_in_html(browser):
    answer = browser.send("/editor/new", files=[("unknown", JPEG)])
    assert isinstance(answer, httpx.Response)
    assert answer.status_code == 400
    assert "This was not accepted" in answer.text
