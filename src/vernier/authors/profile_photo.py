"""The photo of an author's profile: one of their Media, shown as soon as it is ready."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from vernier.authors.models import Author
from vernier.media.models import Media

if TYPE_CHECKING:
    from uuid import UUID


def use_as_profile_photo(author: Author, media_id: UUID) -> None:
    """Show this image in the author's profile; raise MediaNotFound for one that is not theirs, or is deleted."""
    with transaction.atomic():
        # Deleting it waits for the same row, or has been first.
        media = Media.objects.live().lock_own(media_id, owner_id=author.pk)
        Author.objects.filter(pk=author.pk).update(photo=media)


def stop_using_as_profile_photo(author: Author, media_id: UUID) -> None:
    """Show the author's profile without this image; does nothing where another one is shown."""
    Author.objects.filter(pk=author.pk, photo=media_id).update(photo=None)
