"""Create: from the properties that a client sends, its files among them, to a post."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.db import transaction

from vernier.media.models import UploadKey
from vernier.media_api.errors import ApiError
from vernier.media_api.links import media_url
from vernier.media_api.multipart import shown
from vernier.media_api.received import ReceivedFile
from vernier.media_api.refusals import refusal
from vernier.micropub.jobs import ring_copies
from vernier.micropub.photos import PHOTO, PHOTO_ALT, with_alts
from vernier.micropub.retries import retry_of, upload_key
from vernier.posts.entry import Status
from vernier.posts.exceptions import PropertyInvalid
from vernier.posts.mf2 import from_properties
from vernier.posts.write import check_new, create_post, find_retry, require_own_media

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vernier.authors.models import AccessToken, Author
    from vernier.micropub.commands import Create, Properties
    from vernier.posts.entry import Entry
    from vernier.posts.models import Post
    from vernier.posts.write import Retry

# Whoever has only this scope saves drafts, and nothing else with it.
DRAFT_SCOPE = "draft"
SLUG_NAMES = ("mp-slug", "slug")
# Stands for a file while the rest is checked.
_STAND_IN = "https://file.invalid/"


def create(token: AccessToken, command: Create, *, base: str, key: str | None) -> Post:
    """Write the post, or return the one that the same request has made before.

    All of it is checked before a file is accepted. Raises PostError, ApiError, UploadRefused, NoSpace.
    """
    author = token.author
    retry = retry_of(token, command, key)
    earlier = find_retry(author, retry)
    if earlier is not None:
        return earlier
    _check(token, command.properties, base)
    urls = _accept_files(author, command.properties.get(PHOTO, []), retry, base)
    entry = _entry(token, command.properties, base=base, urls=urls)
    with transaction.atomic():
        created = create_post(author, entry, retry=retry)
        if created.is_new:
            ring_copies(created.post)
    return created.post


def slug_in(properties: Properties) -> str:
    """Return the slug that the properties ask for, or nothing."""
    values = next((properties[name] for name in SLUG_NAMES if properties.get(name)), [""])
    if not isinstance(values[0], str):
        raise PropertyInvalid("mp-slug", values[0], "a text")
    return values[0]


def _check(token: AccessToken, properties: Properties, base: str) -> None:
    """Raise what the creation would raise, as far as that can be known without its files."""
    for value in properties.get(PHOTO, []):
        if isinstance(value, ReceivedFile) and value.refusal is not None:
            raise _refused(value)
    entry = _entry(token, properties, base=base, urls=itertools.repeat(_STAND_IN))
    check_new(entry)
    require_own_media(token.author_id, entry)


def _refused(file: ReceivedFile) -> ApiError:
    assert file.refusal is not None
    why = refusal(file.refusal)
    name = f" ({file.filename})" if file.filename else ""
    part = shown(file.field.encode())
    return ApiError(why.status, why.code, f"The file in the part “{part}”{name} is not accepted: {why.description}")


def _accept_files(author: Author, photos: list[Any], retry: Retry, base: str) -> list[str]:
    files = [value for value in photos if isinstance(value, ReceivedFile)]
    return [
        media_url(base, file.accept(owner=author, idempotency_key=_free_key(author, retry, number)).media_id)
        for number, file in enumerate(files)
    ]


def _free_key(author: Author, retry: Retry, number: int) -> str:
    """Return the upload's key. Of a photo that the author has deleted since, it makes a new one."""
    key = upload_key(retry, number)
    UploadKey.objects.filter(owner=author, key=key, media__deleted_at__isnull=False).delete()
    return key


def _entry(token: AccessToken, properties: Properties, *, base: str, urls: Iterable[str]) -> Entry:
    """Return the entry with `urls` in the places of its files."""
    waiting = iter(urls)
    photos = [next(waiting) if isinstance(value, ReceivedFile) else value for value in properties.get(PHOTO, [])]
    photos = with_alts(photos, properties.get(PHOTO_ALT, []))
    others = {name: values for name, values in properties.items() if name not in {PHOTO, *SLUG_NAMES}}
    entry = from_properties({**others, PHOTO: photos}, base=base)
    entry = replace(entry, slug=slug_in(properties))
    return replace(entry, status=Status.DRAFT) if DRAFT_SCOPE in token.scopes else entry
