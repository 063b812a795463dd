"""Posts and images of tests, made without the pipeline."""

from datetime import UTC, datetime, timedelta

from vernier.media.models import Media
from vernier.posts.entry import Content, ContentFormat, Entry, EntryPhoto
from vernier.posts.mf2 import from_properties
from vernier.posts.write import create_post

BASE = "https://example.org"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


def make_media(owner):
    """Return a Media without any Version, as good as one that is being processed."""
    return Media.objects.create(owner=owner, created_at=NOW)


def make_post(author, text="Hello, world", *, now=NOW, **fields):
    content = Content(format=ContentFormat.TEXT, source=text) if text else None
    return create_post(author, Entry(content=content, **fields), now=now).post


def make_from(author, now=NOW, **properties):
    """Return a post made of microformats2 properties; underscores stand for hyphens."""
    named = {name.replace("_", "-"): values for name, values in properties.items()}
    return create_post(author, from_properties(named, base=BASE), now=now).post


def photo_of(media, alt=""):
    return EntryPhoto(media_id=media.pk, alt=alt)
