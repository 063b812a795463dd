"""Copies of photos on other sites whose host the operator has listed; until there is one, the photo is linked."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.utils import timezone

from vernier.media.accept import Upload
from vernier.media.conf import media_settings
from vernier.media.delete import delete_media
from vernier.media.exceptions import NoSpace, UploadRefused
from vernier.micropub.jobs import is_to_copy, ring_copies
from vernier.net.fetch import FetchFailed, FetchRefused, Limits, stream
from vernier.posts.exceptions import PostError
from vernier.posts.models import Photo, Post
from vernier.posts.write import change_post

if TYPE_CHECKING:
    from uuid import UUID

    from vernier.authors.models import Author
    from vernier.posts.entry import Entry, EntryPhoto

logger = logging.getLogger("vernier.micropub")

# After 1, 2, 4 and 8 minutes. A site that does not give its photo in a quarter of an hour may never do.
ATTEMPTS_MAX = 5
RETRY = timedelta(minutes=1)
# For 20 MiB from a slow site; a job may take its time.
FETCH_SECONDS = 60


def copy_photos(post_id: UUID, *, attempt: int, now: datetime | None = None) -> None:
    """Copy what is linked and is to be copied, photo by photo; what fails and may pass is tried again later."""
    post = Post.objects.live().select_related("author").filter(pk=post_id).first()
    if post is None:
        return
    urls = dict.fromkeys(photo.url for photo in post.photos.all() if is_to_copy(photo.url))
    copied = [_copy(post, url) for url in urls]
    if not all(copied) and attempt < ATTEMPTS_MAX:
        at = (now or timezone.now()) + RETRY * 2 ** (attempt - 1)
        ring_copies(post, attempt=attempt + 1, at=at)


def _copy(post: Post, url: str) -> bool:
    """Let the post have a copy in the place of the link; return False where that is to be tried again."""
    try:
        media_id = _accept(post, url)
    except (FetchRefused, UploadRefused) as error:
        logger.warning("The photo %s stays linked: %s", url, error, extra={"event": "photo_not_copied"})
        return True
    except (FetchFailed, NoSpace) as error:
        logger.warning("The photo %s was not copied yet: %s", url, error, extra={"event": "photo_copy_failed"})
        return False
    _attach(post, url, media_id)
    return True


def _accept(post: Post, url: str) -> UUID:
    """Return the Media that the photo has become; the same one if a job that was killed had come so far."""
    limits = Limits(seconds=FETCH_SECONDS, bytes_max=media_settings().upload_max_bytes)
    sha256 = hashlib.sha256(f"{post.pk} {url} ".encode())
    with stream(url, headers={"Accept": "image/*"}, limits=limits) as answer, Upload() as upload:
        if answer.status != 200:  # noqa: PLR2004 - OK
            raise FetchFailed(f"The answer has the status {answer.status}.")
        for chunk in answer.chunks:
            upload.write(chunk)
            sha256.update(chunk)
        return upload.accept(owner=post.author, idempotency_key=f"copy:{sha256.hexdigest()}").media_id


def _attach(post: Post, url: str, media_id: UUID) -> None:
    """Swap the link for the copy; where the post does not have it any more, the copy is of no use."""

    def edit(entry: Entry) -> Entry:
        return replace(entry, photos=tuple(_swapped(photo, url, media_id) for photo in entry.photos))

    author: Author = post.author
    try:
        change_post(author, post.pk, edit)
    except PostError as error:
        logger.warning("The photo %s stays linked: %s", url, error, extra={"event": "photo_not_copied"})
    if not Photo.objects.filter(media_id=media_id).exists():
        delete_media(media_id, owner=author)


def _swapped(photo: EntryPhoto, url: str, media_id: UUID) -> EntryPhoto:
    return replace(photo, url="", media_id=media_id) if photo.url == url else photo
