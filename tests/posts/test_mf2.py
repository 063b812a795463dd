"""Posts as microformats2 properties: nothing is lost on the way there and back."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.posts.factory import BASE, make_from, make_media
from vernier.posts.entry import Entry, Status, Visibility
from vernier.posts.exceptions import PropertyInvalid
from vernier.posts.mf2 import assign, from_properties, to_properties
from vernier.posts.models import Post

CHECKIN = {"type": ["h-card"], "properties": {"name": ["Park"], "latitude": [45.5], "longitude": [-122.6]}}


def read(post):
    return to_properties(Post.objects.get(pk=post.pk), base=BASE)


def test_properties__all_come_back(author):
    given_properties = {
        "name": ["A title"],
        "summary": ["Short"],
        "content": ["Text with <b>signs</b>"],
        "category": ["b", "a"],
        "published": ["2026-11-29T10:00:00-07:00"],
        "in-reply-to": ["https://a.example/1"],
        "syndication": ["https://b.example/2"],
        "checkin": [CHECKIN],
        "x-unknown": [1, 2.5, True, {"nested": [None]}],
    }
    got = read(make_from(author, **given_properties))
    assert {name: got[name] for name in given_properties} == given_properties
    assert (got["post-status"], got["visibility"]) == (["published"], ["public"])
    assert got["url"] == ["https://example.org/2026/11/a-title"]


def test_p8__photo_keeps_its_alt_and_place_whatever_its_state(author):
    media = make_media(author)
    photos = [
        {"value": "https://a.example/1.jpg", "alt": "One"},
        {"value": f"{BASE}/media/{media.pk}", "alt": "Two"},
        "https://a.example/3.jpg",
    ]
    assert read(make_from(author, photo=photos))["photo"] == photos


def test_photo__rendition_of_ours_is_attached_by_identity(author):
    media = make_media(author)
    post = make_from(author, photo=[f"{BASE}/media/{media.pk}/v1/fallback.jpg"])
    assert post.photos.get().media_id == media.pk


def test_content__html_comes_back_as_html(author):
    assert read(make_from(author, content=[{"html": "a <b>b</b>"}]))["content"] == [{"html": "a <b>b</b>"}]


def test_m1__empty_values_are_absent(author):
    post = make_from(author, name=[""], content=["x"], category=["", " "], x_more=[""])
    assert {"name", "category", "x-more"}.isdisjoint(read(post))


def test_m9__unknown_status_is_refused():
    with pytest.raises(PropertyInvalid, match="draft, published"):
        from_properties({"post-status": ["publish"]}, base=BASE)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("published", "yesterday"),
        ("published", "0001-01-01T00:00:00+23:00"),
        ("published", {"a": 1}),
        ("photo", "javascript:alert(1)"),
        ("photo", "/relative.jpg"),
        ("photo", 5),
        ("photo", {"alt": "no address"}),
        ("photo", {"value": "https://a.example/", "alt": 5}),
        ("category", {"type": ["h-card"]}),
        ("name", {"a": 1}),
        ("name", True),
        ("content", {"html": 5}),
        ("content", ["x"]),
        ("visibility", "friends"),
        ("visibility", ["public"]),
        ("bad name", "x"),
        ("", "x"),
    ],
)
def test_values__without_sense_are_refused_by_name(name, value):
    with pytest.raises(PropertyInvalid) as caught:
        from_properties({name: [value]}, base=BASE)
    assert caught.value.name == name


@pytest.mark.parametrize("name", ["url", "uid", "updated", "author", "mp-slug", "mp-anything"])
def test_values__that_are_the_servers_to_say_are_left_out(name):
    assert from_properties({name: ["x"]}, base=BASE) == Entry()


def test_published__plus_sign_that_a_form_has_lost():
    entry = from_properties({"published": ["2026-11-30T12:00:00 01:00"]}, base=BASE)
    assert entry.published_at.isoformat() == "2026-11-30T12:00:00+01:00"


def test_assign__photo_named_again_keeps_its_texts(author):
    media = make_media(author)
    entry = from_properties({"photo": [{"value": f"{BASE}/media/{media.pk}", "alt": "A", "caption": "C"}]}, base=BASE)
    again = assign(entry, "photo", [f"{BASE}/media/{media.pk}"], base=BASE)
    assert again.photos == entry.photos
    emptied = assign(entry, "photo", [{"value": f"{BASE}/media/{media.pk}", "alt": ""}], base=BASE)
    assert emptied.photos[0].alt == ""


_TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=40)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)
_NAMES = st.sampled_from(
    [
        "name",
        "content",
        "summary",
        "photo",
        "category",
        "published",
        "post-status",
        "visibility",
        "rsvp",
        "x-y",
        "url",
    ]
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(_NAMES, st.lists(_VALUES, max_size=3), max_size=4))
def test_values__any_are_kept_or_refused_and_kept_ones_come_back(author, properties):
    try:
        entry = from_properties(properties, base=BASE)
        entry.check()
        post = make_from(author, **{**properties, "x-base": ["x"]})
    except PropertyInvalid:
        return
    stored = Post.objects.get(pk=post.pk).entry
    back = from_properties(read(post), base=BASE)
    # Sanitised HTML is what comes back of a content that was written in it.
    assert replace(back, slug="", published_at=None) == replace(stored, slug="", published_at=None)


def test_entry__states_are_read_as_they_were_written():
    entry = from_properties({"post-status": ["draft"], "visibility": ["unlisted"]}, base=BASE)
    assert (entry.status, entry.visibility, entry.content) == (Status.DRAFT, Visibility.UNLISTED, None)
