"""Write posts straight into the database of a site: `python -m bench.fill_posts COUNT`, with its environment.

Twenty with a photo each are the newest; COUNT notes are older, and a tenth of them have a tag.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vernier.site.settings")
django.setup()

# Their models load once Django is set up.
from tests.media_api.factory import add_rendition, make_media  # noqa: E402
from vernier.authors.models import Author  # noqa: E402
from vernier.posts.entry import Content, ContentFormat, Entry, EntryPhoto, Kind, Status, Visibility  # noqa: E402
from vernier.posts.models import Permalink, Post, Tag  # noqa: E402
from vernier.posts.write import create_post  # noqa: E402

PHOTO_POSTS = 20
START = datetime(2026, 1, 1, tzinfo=UTC)
BATCH = 5000


def main() -> None:
    author = Author.objects.get()
    for index in range(PHOTO_POSTS):
        content = Content(format=ContentFormat.TEXT, source=f"Photos number {index}, with a line of words.")
        photos = (EntryPhoto(media_id=_photo(author), alt=f"Photo {index}"),)
        published_at = START + timedelta(hours=index)
        create_post(author, Entry(content=content, photos=photos, tags=("light", "stone"), published_at=published_at))
    for start in range(0, int(sys.argv[1]), BATCH):
        _notes(author, range(start, min(start + BATCH, int(sys.argv[1]))))


def _photo(author: Author) -> object:
    media = make_media(author, placeholder="#a1b2c3")
    for name in ("w480", "w960", "w1600"):
        add_rendition(media.current, name, "avif", b"AVIF")
    return media.pk


def _notes(author: Author, indexes: range) -> None:
    posts = [_note(author, index) for index in indexes]
    Post.objects.bulk_create(posts)
    Permalink.objects.bulk_create(Permalink(path=post.path, post=post) for post in posts)
    Tag.objects.bulk_create(
        Tag(post=post, position=0, name="light", slug="light", published_at=post.published_at) for post in posts[::10]
    )


def _note(author: Author, index: int) -> Post:
    at = START - timedelta(minutes=10 * index + 10)
    text = f"Note number {index}. " + "Some words that make a line or two of text. " * 5
    return Post(
        author=author,
        kind=Kind.NOTE,
        status=Status.PUBLISHED,
        visibility=Visibility.PUBLIC,
        path=f"{at:%Y/%m}/note-{index}",
        content_format=ContentFormat.TEXT,
        content=text,
        content_html=f"<p>{text}</p>",
        created_at=at,
        updated_at=at,
        published_at=at,
    )


main()
