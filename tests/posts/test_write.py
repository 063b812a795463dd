"""Create and change: what is written, what is refused, and what a second sending comes to."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from tests.posts.factory import LATER, NOW, make_media, make_post, photo_of
from vernier.posts import content
from vernier.posts.delete import delete_post, undelete_post
from vernier.posts.entry import PROPERTIES_MAX, TAGS_MAX, Content, ContentFormat, Entry, Kind, Status, Visibility
from vernier.posts.exceptions import PostChanged, PostEmpty, PostNotFound, PropertyInvalid, RetryKeyReused
from vernier.posts.models import Photo, Post, RetryKey, Tag, own_posts
from vernier.posts.write import Retry, change_post, create_post, prune_retry_keys

TEXT = Content(format=ContentFormat.TEXT, source="Hello")


@pytest.fixture
def other(db):
    return get_user_model().objects.create_user("bob")


def test_create__is_published_at_once_and_listed(author):
    post = make_post(author)
    assert (post.status, post.visibility, post.published_at) == (Status.PUBLISHED, Visibility.PUBLIC, NOW)
    assert list(Post.objects.listed(now=NOW)) == [post]


@pytest.mark.parametrize(
    "fields",
    [{"status": Status.DRAFT}, {"visibility": Visibility.UNLISTED}, {"visibility": Visibility.PRIVATE}],
)
def test_create__what_is_not_public_is_not_listed(author, fields):
    make_post(author, **fields)
    assert not Post.objects.listed(now=LATER).exists()


def test_create__scheduled_post_appears_at_its_time(author):
    post = make_post(author, published_at=LATER)
    assert post.is_scheduled(now=NOW)
    assert not Post.objects.listed(now=NOW).exists()
    assert list(Post.objects.listed(now=LATER)) == [post]


@pytest.mark.parametrize(
    ("fields", "others", "own"),
    [
        ({}, True, True),
        ({"visibility": Visibility.UNLISTED}, True, True),
        ({"visibility": Visibility.PRIVATE}, False, True),
        ({"status": Status.DRAFT}, False, True),
        ({"published_at": LATER}, False, True),
    ],
)
def test_readable__by_others_and_by_its_author(author, other, fields, others, own):
    make_post(author, **fields)
    assert Post.objects.readable_by(None, now=NOW).exists() is others
    assert Post.objects.readable_by(other.pk, now=NOW).exists() is others
    assert Post.objects.readable_by(author.pk, now=NOW).exists() is own


def test_create__nothing_said_is_refused(author):
    with pytest.raises(PostEmpty):
        create_post(author, Entry(title="  "))


def test_m2__like_without_content_is_a_post(author):
    post = make_post(author, text="", properties={"like-of": ["https://example.com/a"]})
    assert (post.kind, post.content_html) == (Kind.LIKE, "")


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"title": "x" * 1001}, "name"),
        ({"tags": tuple(str(number) for number in range(TAGS_MAX + 1))}, "category"),
        ({"title": "a\0b"}, "name"),
        ({"title": "a\ud800b"}, "name"),
        ({"properties": {"x": [{"deep": ["\ud800"]}]}}, "properties"),
        ({"properties": {"x": [{"deep": [float("nan")]}]}}, "properties"),
        ({"properties": {"x": [float("-inf")]}}, "properties"),
        ({"properties": {"x": [b"bytes"]}}, "properties"),
        ({"properties": {"x": [NOW]}}, "properties"),
        ({"properties": {f"p{number}": ["v"] for number in range(PROPERTIES_MAX + 1)}}, f"p{PROPERTIES_MAX}"),
    ],
)
def test_create__what_cannot_be_kept_is_refused_by_name(author, fields, name):
    with pytest.raises(PropertyInvalid) as caught:
        create_post(author, Entry(content=TEXT, **fields))
    assert caught.value.name == name
    assert not Post.objects.exists()


def test_create__photos_keep_their_order_and_texts(author):
    one, two = make_media(author), make_media(author)
    post = make_post(author, photos=(photo_of(two, "second"), photo_of(one, "first")))
    assert [(photo.media_id, photo.alt) for photo in post.photos.all()] == [(two.pk, "second"), (one.pk, "first")]


@pytest.mark.parametrize("whose", ["another's", "deleted", "nobody's"])
def test_create__photo_that_is_not_the_authors_is_refused(author, other, whose):
    media = make_media(other if whose == "another's" else author)
    if whose == "deleted":
        type(media).objects.update(deleted_at=NOW)
    photo = replace(photo_of(media), media_id=uuid4()) if whose == "nobody's" else photo_of(media)
    with pytest.raises(PropertyInvalid, match="an image of this author"):
        make_post(author, photos=(photo,))
    assert not Post.objects.exists()
    assert not Photo.objects.exists()


def test_create__tags_keep_their_order_and_are_one_per_address(author):
    post = make_post(author, tags=("Zebra", "café", "Café", "日本", "C++", "C#", "#birds", "🎉"))
    assert [(tag.name, tag.slug) for tag in post.tags.all()] == [
        ("Zebra", "zebra"),
        ("café", "café"),
        ("日本", "日本"),
        ("C++", "c++"),
        ("C#", "c#"),
        ("#birds", "birds"),
        ("🎉", "🎉"),
    ]


@pytest.mark.parametrize(("name", "slug"), [("..", "dot-dot"), (".", "dot"), ("a/b", "ab"), ("_x -- y_", "x-y")])
def test_create__tag_is_no_directory_of_an_address(author, name, slug):
    assert make_post(author, tags=(name,)).tags.get().slug == slug


def test_create__tag_of_signs_that_stand_for_phrases_fits_its_column(author):
    assert len(make_post(author, tags=("\ufdfa" * 100,)).tags.get().slug) == 300


def test_retry__same_key_is_the_same_post(author):
    retry = Retry(key="k", sha256="a" * 64)
    first = create_post(author, Entry(content=TEXT), retry=retry, now=NOW)
    again = create_post(author, Entry(content=TEXT), retry=retry, now=LATER)
    assert (first.is_new, again.is_new, again.post) == (True, False, first.post)
    assert Post.objects.count() == 1


def test_retry__same_key_with_other_content_is_refused(author):
    create_post(author, Entry(content=TEXT), retry=Retry(key="k", sha256="a" * 64), now=NOW)
    with pytest.raises(RetryKeyReused):
        create_post(author, Entry(content=TEXT), retry=Retry(key="k", sha256="b" * 64), now=NOW)


def test_retry__keys_of_two_authors_do_not_meet(author, other):
    retry = Retry(key="k", sha256="a" * 64)
    create_post(author, Entry(content=TEXT), retry=retry, now=NOW)
    assert create_post(other, Entry(content=TEXT), retry=retry, now=NOW).is_new


def test_retry__key_is_forgotten_after_its_time(author):
    retry = Retry(key="k", sha256="a" * 64, kept=timedelta(minutes=5))
    create_post(author, Entry(content=TEXT), retry=retry, now=NOW)
    assert create_post(author, Entry(content=TEXT), retry=retry, now=NOW + timedelta(minutes=5)).is_new


def test_prune_retry_keys__removes_what_has_expired(author):
    create_post(author, Entry(content=TEXT), retry=Retry(key="k", sha256="a" * 64), now=NOW)
    assert prune_retry_keys(now=NOW + timedelta(hours=23)) == 0
    assert prune_retry_keys(now=NOW + timedelta(hours=24)) == 1
    assert not RetryKey.objects.exists()


def test_change__writes_what_is_new_and_counts(author):
    post = make_post(author, tags=("a",))
    changed = change_post(author, post.pk, lambda entry: replace(entry, title="New", tags=("b",)), now=LATER)
    assert (changed.title, changed.revision, changed.updated_at) == ("New", 2, LATER)
    assert [tag.name for tag in changed.tags.all()] == ["b"]
    assert changed.path == post.path


def test_change__nothing_new_is_no_change(author):
    post = make_post(author, tags=("a",), photos=(photo_of(make_media(author)),))
    ids = [photo.pk for photo in post.photos.all()]
    same = change_post(author, post.pk, lambda entry: entry, now=LATER)
    assert (same.revision, same.updated_at) == (1, post.updated_at)
    assert [photo.pk for photo in same.photos.all()] == ids


def test_change__older_revision_does_not_undo_a_newer_one(author):
    post = make_post(author)
    change_post(author, post.pk, lambda entry: replace(entry, title="First"), revision=1)
    with pytest.raises(PostChanged):
        change_post(author, post.pk, lambda entry: replace(entry, title="Second"), revision=1)
    assert Post.objects.get().title == "First"


def test_change__refused_change_leaves_everything(author):
    post = make_post(author, tags=("a",))
    with pytest.raises(PropertyInvalid):
        change_post(author, post.pk, lambda entry: replace(entry, title="x" * 2000, tags=("b",)))
    with pytest.raises(PostEmpty):
        change_post(author, post.pk, lambda entry: Entry())
    assert [tag.name for tag in Tag.objects.all()] == ["a"]


def test_change__another_authors_post_is_not_found(author, other):
    post = make_post(author)
    with pytest.raises(PostNotFound):
        change_post(other, post.pk, lambda entry: entry)


def test_change__image_that_was_deleted_since_stays_where_it_is(author):
    media = make_media(author)
    post = make_post(author, photos=(photo_of(media),))
    type(media).objects.update(deleted_at=NOW)
    changed = change_post(author, post.pk, lambda entry: replace(entry, title="New"))
    assert [photo.media_id for photo in changed.photos.all()] == [media.pk]


def test_change__draft_that_is_published_gets_the_time_of_that_moment(author):
    post = make_post(author, status=Status.DRAFT)
    assert post.published_at is None
    changed = change_post(author, post.pk, lambda entry: replace(entry, status=Status.PUBLISHED), now=LATER)
    assert changed.published_at == LATER


def test_m3__offset_of_the_author_is_kept_and_hides_nothing(author):
    before_change = datetime.fromisoformat("2026-03-29T01:59:00+01:00")
    post = Post.objects.get(pk=make_post(author, published_at=before_change).pk)
    assert post.published.isoformat() == "2026-03-29T01:59:00+01:00"
    assert Post.objects.listed(now=datetime(2026, 3, 29, 1, 0, tzinfo=UTC)).exists()


def test_delete__leaves_the_lists_and_comes_back_as_it_was(author):
    post = make_post(author, photos=(photo_of(make_media(author), "alt"),))
    delete_post(author, post.pk)
    delete_post(author, post.pk)
    assert not Post.objects.listed(now=LATER).exists()
    assert not own_posts(author).exists()
    back = undelete_post(author, post.pk)
    assert back.entry == post.entry


def test_delete__another_authors_post_is_not_found(author, other):
    post = make_post(author)
    with pytest.raises(PostNotFound):
        delete_post(other, post.pk)
    assert Post.objects.listed(now=LATER).exists()


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({}, Kind.NOTE),
        ({"title": "Hello"}, Kind.NOTE),
        ({"title": "A walk"}, Kind.ARTICLE),
        ({"properties": {"in-reply-to": ["https://a.example/"]}}, Kind.REPLY),
        ({"properties": {"in-reply-to": ["https://a.example/"], "rsvp": ["yes"]}}, Kind.RSVP),
        ({"properties": {"repost-of": ["https://a.example/"]}}, Kind.REPOST),
        ({"properties": {"bookmark-of": ["https://a.example/"]}, "title": "A page"}, Kind.BOOKMARK),
    ],
)
def test_kind__is_discovered_from_what_the_post_has(author, fields, kind):
    assert make_post(author, "Hello there", **fields).kind == kind


def test_kind__photos_make_a_photo_post(author):
    assert make_post(author, photos=(photo_of(make_media(author)),)).kind == Kind.PHOTO


@pytest.mark.django_db(transaction=True)
def test_create__renders_a_text_once_and_keeps_no_writer_waiting_for_it(monkeypatch):
    within = []

    def slowly(source):
        within.append(connection.in_atomic_block)
        return source

    monkeypatch.setitem(content._RENDERERS, ContentFormat.MARKDOWN, slowly)
    author = get_user_model().objects.create_user("carol")
    create_post(author, Entry(content=Content(format=ContentFormat.MARKDOWN, source="A text of its own")))
    assert within == [False]
