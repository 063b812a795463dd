"""Permalinks: what they are made of, that none is given twice, and that old ones go on leading to their post."""

from dataclasses import replace

import pytest

from tests.posts.factory import BASE, make_post
from vernier.posts.addresses import find_by_path, find_by_url, media_id_of, post_url
from vernier.posts.delete import delete_post
from vernier.posts.write import change_post


@pytest.mark.parametrize(
    ("text", "fields", "path"),
    [
        ("One two three four five six seven", {}, "2026/11/one-two-three-four-five-six"),
        ("Text", {"title": "Über Größe & Co."}, "2026/11/uber-groe-co"),
        ("Text", {"title": "Title", "slug": "My Slug!"}, "2026/11/my-slug"),
        ("日本", {}, "2026/11/note"),
        ("https://example.com/a/b look", {}, "2026/11/look"),
        ("", {"properties": {"like-of": ["https://a.example/"]}}, "2026/11/like"),
    ],
)
def test_path__is_made_of_slug_title_words_or_kind(author, text, fields, path):
    assert make_post(author, text, **fields).path == path


def test_path__is_never_given_twice(author):
    paths = [make_post(author, "Same").path for _ in range(12)]
    assert paths[:3] == ["2026/11/same", "2026/11/same-2", "2026/11/same-3"]
    assert len(set(paths)) == len(paths)


def test_path__of_a_deleted_post_stays_its_own(author):
    first = make_post(author, "Same")
    delete_post(author, first.pk)
    assert make_post(author, "Same").path == "2026/11/same-2"
    assert find_by_path("2026/11/same").deleted_at is not None


def test_m1__empty_title_is_no_title(author):
    assert make_post(author, "Some words", title="").path == "2026/11/some-words"


def test_m6__old_permalink_leads_to_the_post_after_its_slug_has_changed(author):
    post = make_post(author, "Old")
    changed = change_post(author, post.pk, lambda entry: replace(entry, slug="new"))
    assert changed.path == "2026/11/new"
    assert find_by_path("2026/11/old") == find_by_path("/2026/11/new/") == changed
    assert make_post(author, "Old").path == "2026/11/old-2"


def test_m6__slug_can_change_back(author):
    post = make_post(author, "Old")
    change_post(author, post.pk, lambda entry: replace(entry, slug="new"))
    assert change_post(author, post.pk, lambda entry: replace(entry, slug="old")).path == "2026/11/old"


@pytest.mark.parametrize("url", ["https://example.org/{}", "http://example.org/{}", "https://EXAMPLE.org:443/{}#top"])
def test_find_by_url__any_spelling_of_the_own_host(author, url):
    post = make_post(author)
    assert find_by_url(BASE, url.format(post.path)) == post


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/{}",
        "/{}",
        "https://example.org:8000/{}",
        "https://[/{}",
        "https://example.org:x/{}",
        "ftp://example.org/{}",
    ],
)
def test_find_by_url__nothing_at_other_addresses(author, url):
    assert find_by_url(BASE, url.format(make_post(author).path)) is None


def test_post_url__is_the_current_path(author):
    assert post_url(BASE, make_post(author)) == "https://example.org/2026/11/hello-world"


def test_media_id_of__our_images_and_their_renditions_only():
    media_id = "3b241101-e2bb-4255-8caf-4136c566a962"
    assert str(media_id_of(BASE, f"{BASE}/media/{media_id}")) == media_id
    assert str(media_id_of(BASE, f"{BASE}/media/{media_id}/v2/fallback.jpg")) == media_id
    assert media_id_of(BASE, f"https://example.com/media/{media_id}") is None
    assert media_id_of(BASE, f"{BASE}/media/{media_id}/status/x/y") is None
