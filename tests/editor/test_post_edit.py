"""Writing and changing posts with the form, as a browser without scripts sends it."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.editor.pages import fields_of, submit, text_of
from tests.media_api.factory import make_media
from vernier.editor.urls import urlpatterns
from vernier.media.clean_up import clean_up_media
from vernier.media.delete import delete_media
from vernier.posts.delete import delete_post
from vernier.posts.entry import Content, ContentFormat, Entry, EntryPhoto, Status
from vernier.posts.models import Post
from vernier.posts.write import change_post, create_post


def path_of(post):
    return f"/editor/posts/{post.pk}"


def test_new_post__is_published_at_its_permalink(client):
    response = submit(client, "/editor/new", title="A walk", content="Around the *lake*.", tags="walks, lake ,walks")
    post = Post.objects.get()
    assert (response.status_code, response["Location"]) == (302, f"/{post.path}")
    assert (post.title, post.status, post.content_format) == ("A walk", "published", "markdown")
    assert "<em>lake</em>" in post.content_html
    assert [tag.name for tag in post.tags.all()] == ["walks", "lake"]


def test_new_post__saved_as_a_draft_leads_back_to_the_form(client):
    response = submit(client, "/editor/new", action="draft", content="Not yet.")
    post = Post.objects.get()
    assert response["Location"] == path_of(post)
    assert post.status == "draft"
    assert "The draft is saved." in text_of(client.get(path_of(post)))


def test_new_post__is_a_draft_where_no_button_was_pressed(client):
    submit(client, "/editor/new", action="", content="Sent by some key.")
    assert Post.objects.get().status == "draft"


def test_form_sent_twice__makes_one_post(client):
    page = client.get("/editor/new")
    first, second = (submit(client, "/editor/new", page, content="Once.") for _ in range(2))
    assert first["Location"] == second["Location"]
    assert Post.objects.count() == 1


def test_form_sent_again_with_changes__changes_the_post(client):
    page = client.get("/editor/new")
    first = submit(client, "/editor/new", page, title="Title", content="Once.")
    second = submit(client, "/editor/new", page, content="Once more.")
    post = Post.objects.get()
    assert first["Location"] == second["Location"]
    assert (post.title, post.content) == ("", "Once more.")


def test_form_sent_again__undoes_no_change_that_was_made_since(client, author):
    page = client.get("/editor/new")
    submit(client, "/editor/new", page, content="First.")
    post = Post.objects.get()
    change_post(author, post.pk, lambda entry: Entry(title="Elsewhere", slug=entry.slug))
    response = submit(client, "/editor/new", page, content="Went back and wrote this.")
    assert response.status_code == 409
    assert "Went back and wrote this." in text_of(response)
    saved = submit(client, path_of(post), response)
    assert saved.status_code == 302
    assert Post.objects.get().content == "Went back and wrote this."


def test_empty_post__is_refused_with_a_sentence(client):
    response = submit(client, "/editor/new")
    assert response.status_code == 422
    assert "The post is empty." in text_of(response)
    assert not Post.objects.exists()


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("in_reply_to", "javascript:alert(1)", "is no web address"),
        ("published", "soon", "is no time"),
        ("tags", "x" * 101, "101 characters"),
        ("visibility", "secret", "Select a valid choice"),
        ("slug", "x" * 81, "at most 80"),
    ],
)
def test_bad_value__is_refused_at_its_field_and_keeps_the_text(client, field, value, sentence):
    response = submit(client, "/editor/new", content="A long text.", **{field: value})
    page = text_of(response)
    assert response.status_code == 422
    assert "A long text." in page
    assert sentence in re.search(rf'id="id_{field}_error">([^<]*)<', page)[1]
    assert f'href="#id_{field}"' in page


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("content", "nul\0"),
        ("published", "0001-01-01T00:00"),
        ("published", "9999-12-31T23:59"),
        ("published", "2026-11-30T12:00+23:59"),
        ("revision", "9" * 5000),
        ("token", "\u20ac" * 300),
        ("photo", "https://["),
        ("photo", "\u20ac"),
        ("content_format", "word"),
        ("rsvp", "perhaps"),
        ("in_reply_to", "https://["),
        ("csrfmiddlewaretoken", "\u20ac"),
    ],
)
def test_nonsense__is_no_server_error(client, name, value):
    response = submit(client, "/editor/new", **{"content": "Text", name: value})
    assert response.status_code in {302, 400, 422}


def test_edit__without_a_change_writes_nothing(client, write):
    at = timezone.now().astimezone(timezone.get_fixed_timezone(120)).replace(microsecond=7)
    properties = {"in-reply-to": [{"type": ["h-cite"], "properties": {"url": ["https://a.example/"], "name": ["A"]}}]}
    post = write("One\r\ntwo", title="T", tags=("a, b", "c"), published_at=at, properties={**properties, "x-y": [1]})
    assert submit(client, path_of(post)).status_code == 302
    again = Post.objects.get()
    assert (again.revision, again.entry) == (1, post.entry)


def test_edit__keeps_what_the_form_does_not_show(client, write):
    cite = {"type": ["h-cite"], "properties": {"url": ["https://a.example/"], "name": ["A"]}}
    post = write(properties={"in-reply-to": [cite], "x-weather": ["rain"]})
    submit(client, path_of(post), in_reply_to="https://b.example/\r\nhttps://a.example/", rsvp="yes")
    properties = Post.objects.get().properties
    assert properties["in-reply-to"] == ["https://b.example/", cite]
    assert (properties["x-weather"], properties["rsvp"]) == (["rain"], ["yes"])


def test_edit__of_html_stays_html(client, author):
    html = Content(format=ContentFormat.HTML, source="<p>From a <b>client</b></p>")
    post = create_post(author, Entry(content=html)).post
    assert fields_of(client.get(path_of(post)))["content_format"] == "html"
    submit(client, path_of(post), content="<p>Edited</p>")
    assert (Post.objects.get().content_format, Post.objects.get().content_html) == ("html", "<p>Edited</p>")


def test_edit__of_what_was_changed_elsewhere_shows_the_text_again(client, author, write):
    post = write()
    page = client.get(path_of(post))
    change_post(author, post.pk, lambda entry: Entry(title="Elsewhere", slug=entry.slug))
    response = submit(client, path_of(post), page, content="Mine.")
    assert response.status_code == 409
    assert "was changed elsewhere" in text_of(response)
    assert Post.objects.get().title == "Elsewhere"
    submit(client, path_of(post), response)
    assert (Post.objects.get().content, Post.objects.get().title) == ("Mine.", "")


def test_edit__of_a_post_deleted_meanwhile_shows_the_text_again(client, author, write):
    post = write()
    page = client.get(path_of(post))
    delete_post(author, post.pk)
    response = submit(client, path_of(post), page, content="Mine.")
    assert response.status_code == 409
    assert "Mine." in text_of(response)


def test_edit__changes_the_address_and_keeps_the_old_one(client, write):
    post = write(slug="old")
    response = submit(client, path_of(post), slug="new")
    assert response["Location"].endswith("/new")
    assert Post.objects.get().permalinks.count() == 2


def test_date_in_the_future__schedules(client):
    at = timezone.localtime() + timedelta(days=2)
    response = submit(client, "/editor/new", content="Later.", published=f"{at:%Y-%m-%dT%H:%M}")
    post = Post.objects.get()
    assert post.is_scheduled(now=timezone.now())
    assert response["Location"] == path_of(post)
    assert "Scheduled for" in text_of(client.get(path_of(post)))


def test_published_post__goes_back_to_draft_and_keeps_its_date(client, write):
    post = write()
    submit(client, path_of(post), action="draft")
    assert (Post.objects.get().status, Post.objects.get().published_at) == (Status.DRAFT, post.published_at)


def test_photos__keep_their_texts_and_are_moved_and_removed(client, author, write):
    one, two = make_media(author), make_media(author)
    rows = (EntryPhoto(media_id=one.pk, alt="One"), EntryPhoto(url="https://a.example/b.jpg", alt="Two", caption="C"))
    post = write(photos=rows)
    sent = {"photo": [one.pk, "https://a.example/b.jpg", two.pk], "alt": ["1", "2", ""], "caption": ["", "C", "D"]}
    moved = submit(client, path_of(post), action="up:2", **sent)
    assert moved.status_code == 200
    assert text_of(moved).index(str(two.pk)) < text_of(moved).index("https://a.example/b.jpg")
    assert Post.objects.get().revision == 1
    removed = submit(client, path_of(post), action="remove:0", **sent)
    assert str(one.pk) not in text_of(removed)
    submit(client, path_of(post), **sent)
    assert [photo.alt for photo in Post.objects.get().photos.all()] == ["1", "2", ""]


@pytest.mark.parametrize("action", ["up:0", "down:9", "up:x", "remove:", "up:99999999999999999999", "remove:²"])
def test_photo_buttons__that_make_no_sense_change_nothing(client, author, action):
    media = make_media(author)
    response = submit(client, "/editor/new", action=action, photo=[media.pk], alt=["A"], caption=[""])
    assert response.status_code == 200
    assert str(media.pk) in text_of(response)


@pytest.mark.parametrize("owner", ["other", "nobody"])
def test_photo_of_somebody_else__is_refused(client, other_author, owner):
    photo = make_media(other_author).pk if owner == "other" else uuid4()
    response = submit(client, "/editor/new", content="Text", photo=[photo], alt=[""], caption=[""])
    assert response.status_code == 422
    assert "/v1/" not in text_of(response)
    assert not Post.objects.exists()


def test_photo_that_was_deleted_meanwhile__is_named_and_can_be_removed(client, author):
    kept, deleted = make_media(author), make_media(author)
    page = client.get("/editor/new")
    delete_media(deleted.pk, owner=author)
    clean_up_media(deleted.pk)
    response = submit(client, "/editor/new", page, content="Text", photo=[kept.pk, deleted.pk], alt=["", ""])
    assert response.status_code == 422
    assert "A photo was deleted meanwhile." in text_of(response)
    assert re.findall(r'badge-(\w+)">', text_of(response)) == ["ready", "deleted"]
    assert submit(client, "/editor/new", response, photo=[kept.pk], alt=[""]).status_code == 302


def test_photo_that_was_deleted__does_not_keep_its_post_from_being_changed(client, author, write):
    media = make_media(author)
    post = write(photos=(EntryPhoto(media_id=media.pk),))
    delete_media(media.pk, owner=author)
    assert submit(client, path_of(post), content="New text", photo=[media.pk], alt=[""]).status_code == 302


def test_photo__shows_its_state_and_reason(client, author, write):
    ready, failed = make_media(author), make_media(author, status="failed")
    post = write(photos=(EntryPhoto(media_id=ready.pk), EntryPhoto(media_id=failed.pk)))
    page = text_of(client.get(path_of(post)))
    assert f'src="/media/{ready.pk}/v1/fallback.jpg"' in page
    assert "This file ends too early" in page
    assert "Choose another file" in page


def test_address__fills_the_form(client):
    media = "11111111-1111-4111-8111-111111111111"
    page = client.get("/editor/new", {"in-reply-to": "https://a.example/", "content": "Hi", "photo": [media, "x"]})
    fields = fields_of(page)
    assert (fields["in_reply_to"], fields["content"]) == ("https://a.example/", "Hi")
    assert page.status_code == 200


def test_post_of_another_author__is_not_found(other_author, write):
    client = Client()
    client.force_login(other_author)
    assert client.get(path_of(write())).status_code == 404
    assert client.post(path_of(write()), {"content": "Mine now."}).status_code == 404


def test_signed_out_author__is_shown_the_text_again(write):
    post = write("Original.")
    response = Client().post(path_of(post), {"content": "Changed.", "photo": ["x"], "action": "publish"})
    page = text_of(response)
    assert response.status_code == 403
    assert "You were signed out" in page
    assert "Changed." in page
    assert "Original." not in page
    assert Post.objects.get().content == "Original."


def test_form_that_fails_the_csrf_check__is_shown_again(author):
    client = Client(enforce_csrf_checks=True)
    client.force_login(author)
    response = client.post("/editor/new", {"content": "An hour's work.", "action": "publish"})
    assert response.status_code == 403
    assert "An hour&#x27;s work." in text_of(response)
    assert not Post.objects.exists()
    again = client.post(
        "/editor/new",
        {**fields_of(response), "csrfmiddlewaretoken": client.cookies["csrftoken"].value, "action": "publish"},
    )
    assert again.status_code == 302


def test_every_form__needs_its_token(author):
    client = Client(enforce_csrf_checks=True)
    client.force_login(author)
    for pattern in urlpatterns:
        path = reverse(f"editor:{pattern.name}", kwargs=dict.fromkeys(pattern.pattern.converters, uuid4()))
        assert client.post(path, {"content": "Text"}).status_code == 403, path


def test_page__asks_the_server_each_time_and_runs_no_foreign_script(client):
    response = client.get("/editor/new")
    assert response["Cache-Control"] == "private, no-cache"
    assert "script-src 'self'" in response["Content-Security-Policy"]
    assert " style=" not in text_of(response)
    assert "onclick" not in text_of(response)


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({}, "View the post"),
        ({"status": Status.DRAFT}, "Preview"),
        ({"published_at": timezone.now() + timedelta(days=1)}, "Preview"),
    ],
)
def test_edit__leads_to_the_page_as_its_author_sees_it(client, write, fields, word):
    post = write(**fields)
    assert f'<a href="/{post.path}">{word}</a>' in text_of(client.get(f"/editor/posts/{post.pk}"))
    assert client.get(f"/{post.path}").status_code == 200


def test_alt_text__that_is_too_long_is_named_and_kept(client, author):
    media = make_media(author)
    alt = "x" * 10_000
    response = submit(client, "/editor/new", content="Text.", photo=str(media.pk), alt=alt, caption="")
    assert response.status_code == 422
    assert "an alt text of 10000 characters" in text_of(response)
    assert alt in text_of(response)
