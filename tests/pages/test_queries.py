"""Lists and feeds cost the same however many posts there are."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.media_api.factory import make_media
from tests.pages.factory import publish_many
from vernier.pages.listing import Cursor
from vernier.posts.models import Post, Tag

PATHS = (
    "/",
    "/tags/a",
    "/authors/alice",
    "/archive/2026/03",
    *(
        f"{start}/{name}"
        for start in ("", "/tags/a", "/authors/alice")
        for name in ("rss.xml", "atom.xml", "feed.json")
    ),
)


@pytest.fixture
def profile(author):
    author.photo = make_media(author)
    author.save()
    return author


def queries_of(client, path):
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(path).status_code == 200
    return [query["sql"] for query in captured.captured_queries]


@pytest.mark.parametrize("path", PATHS)
def test_queries__do_not_grow_with_posts_and_photos(path, profile, client):
    publish_many(profile, 1, photos_each=1, tags=("a", "b"))
    few = len(queries_of(client, path))
    publish_many(profile, 20, photos_each=5, tags=("a", "b"))
    assert len(queries_of(client, path)) == few
    assert few <= 9


def test_queries__of_a_post_do_not_grow_with_its_photos(profile, client):
    one, five = publish_many(profile, 1, photos_each=1)[0], publish_many(profile, 1, photos_each=5)[0]
    assert len(queries_of(client, f"/{one.path}")) == len(queries_of(client, f"/{five.path}"))


def test_queries__for_the_author_do_not_grow_with_the_photos_that_wait(profile, client):
    client.force_login(profile)
    counts = []
    for _ in range(2):
        for post in publish_many(profile, 3, photos_each=1):
            photo = post.photos.get()
            photo.media = make_media(profile, status="pending", contents={})
            photo.save()
        counts.append(len(queries_of(client, "/")))
    assert counts[0] == counts[1]


def plans_of(client, path):
    """Return how the database answers each query of a page, with the parameters apart as in production."""
    plans = []

    def explain(execute, sql, params, many, context):
        plan = connection.connection.execute(f"EXPLAIN QUERY PLAN {sql.replace('%s', '?')}", params)
        plans.append([row[3] for row in plan])
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        assert client.get(path).status_code == 200
    return plans


@pytest.mark.parametrize("path", [*PATHS, "older", "newer"])
def test_queries__are_answered_by_index_and_in_order(path, profile, client):
    publish_many(profile, 65, tags=("a", "b"))
    for rel in {"older": ("next",), "newer": ("next", "next", "prev")}.get(path, ()):
        start = "/" if path in {"older", "newer"} else path
        path = re.search(rf'<link rel="{rel}" href="([^"]+)"', client.get(start).text)[1]
    plans = plans_of(client, path)
    assert not [step for plan in plans for step in plan if step.startswith("SCAN posts")]
    listing = [plan for plan in plans if any("post_listed" in step or "tag_listed" in step for step in plan)]
    assert listing
    assert not [step for plan in listing for step in plan if "B-TREE" in step]


def work_of(client, path):
    """Return how many steps the database takes for a page: a count that is the same each time."""
    steps = 0

    def count():
        nonlocal steps
        steps += 1

    connection.connection.set_progress_handler(count, 1)
    try:
        assert client.get(path).status_code == 200
    finally:
        connection.connection.set_progress_handler(None, 0)
    return steps


def add_notes(author, count):
    first = Post.objects.order_by("published_at").first().published_at
    posts = [
        Post(
            author=author,
            kind="note",
            status="published",
            visibility="public",
            path=f"old/{first.timestamp()}-{index}",
            content_html="<p>Old</p>",
            created_at=first,
            updated_at=first,
            published_at=first - timedelta(minutes=index + 1),
        )
        for index in range(count)
    ]
    Post.objects.bulk_create(posts)
    Tag.objects.bulk_create(
        Tag(post=post, position=0, name="a", slug="a", published_at=post.published_at) for post in posts
    )


@pytest.mark.parametrize("path", ["/", "/rss.xml", "/tags/a", "/tags/a/atom.xml", "/authors/alice/feed.json"])
def test_work__does_not_grow_with_the_posts_behind(path, profile, client):
    publish_many(profile, 25, photos_each=1, tags=("a",))
    few = work_of(client, path)
    add_notes(profile, 3000)
    assert work_of(client, path) < 1.1 * few


@pytest.mark.parametrize("path", ["/", "/tags/a", "/authors/alice"])
def test_work__does_not_grow_with_the_depth(path, profile, client):
    publish_many(profile, 1, tags=("a",))
    add_notes(profile, 3000)
    posts = Post.objects.order_by("-published_at")
    near, deep = (Cursor(at=post.published_at, id=post.pk) for post in (posts[50], posts[2950]))
    for side in ("before", "after"):
        works = [work_of(client, f"{path}?{side}={place}") for place in (near, deep)]
        assert max(works) < 1.1 * min(works)
