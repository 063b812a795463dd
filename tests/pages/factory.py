"""Posts and photos as they are after publishing, made through the same functions."""

from datetime import UTC, datetime, timedelta

from django.utils import timezone

from tests.media_api.factory import make_media
from vernier.posts.entry import Content, ContentFormat, Entry, EntryPhoto
from vernier.posts.write import create_post

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def text(source):
    return Content(format=ContentFormat.TEXT, source=source)


def html(source):
    return Content(format=ContentFormat.HTML, source=source)


def publish(author, *, photos=(), content="Some words.", **fields):
    """Publish a post; a photo is an EntryPhoto or a Media."""
    photos = tuple(
        one if isinstance(one, EntryPhoto) else EntryPhoto(media_id=one.pk, alt="A heron") for one in photos
    )
    content = text(content) if isinstance(content, str) and content else content or None
    fields = {"published_at": NOON, **fields}
    entry = Entry(content=content, photos=photos, **fields)
    return create_post(author, entry, now=fields["published_at"] or timezone.now()).post


def publish_many(author, count, *, photos_each=0, **fields):
    """Publish posts a minute apart, the newest last."""
    return [
        publish(
            author,
            content=f"Note {index}",
            photos=[make_media(author) for _ in range(photos_each)],
            published_at=NOON + timedelta(minutes=index),
            **fields,
        )
        for index in range(count)
    ]


def feed_items(client, path="/feed.json"):
    return client.get(path).json()["items"]
