"""The photos of a post as the form sends them: rows in their order, new files, and files in the place of others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import OperationalError

from vernier.editor.uploads import FILES, REPLACEMENT
from vernier.media.exceptions import MediaNotFound, NoSpace, UploadRefused
from vernier.media.models import Media
from vernier.media_api.received import ReceivedFile
from vernier.posts.entry import EntryPhoto

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vernier.authors.models import Author
    from vernier.media_api.received import ReceivedForm

# The row of a photo: which it is (an id of a Media, or an address elsewhere), and its texts.
PHOTO, ALT, CAPTION = "photo", "alt", "caption"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedFile:
    """A file that was not taken, and why."""

    filename: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenFiles:
    """What has become of the files of a form."""

    added: tuple[EntryPhoto, ...]
    refused: tuple[RefusedFile, ...]


def rows_of(form: ReceivedForm) -> tuple[EntryPhoto, ...]:
    """Return the photos in the order of their rows; a row that names no photo is left out."""
    named: dict[str, list[str]] = {PHOTO: [], ALT: [], CAPTION: []}
    for name, text in form.texts:
        if name in named:
            named[name].append(text)
    rows = zip_longest(named[PHOTO], named[ALT], named[CAPTION], fillvalue="")
    photos = (row_of(which, alt=alt, caption=caption) for which, alt, caption in rows)
    return tuple(photo for photo in photos if photo is not None)


def move(photos: tuple[EntryPhoto, ...], position: int, *, by: int) -> tuple[EntryPhoto, ...]:
    """Return the photos with one of them earlier or later; at the ends, and for no position, as they were."""
    to = position + by
    if not (0 <= position < len(photos) and 0 <= to < len(photos)):
        return photos
    others = [*photos[:position], *photos[position + 1 :]]
    return (*others[:to], photos[position], *others[to:])


def remove(photos: tuple[EntryPhoto, ...], position: int) -> tuple[EntryPhoto, ...]:
    return tuple(photo for index, photo in enumerate(photos) if index != position)


def take_files(form: ReceivedForm, author: Author, *, token: str) -> TakenFiles:
    """Make Media of the form's files; the same form sent again makes the same ones. Not within a transaction."""
    added: list[EntryPhoto] = []
    refused: list[RefusedFile] = []
    for file, replaces in _files(form):
        try:
            accepted = file.accept(owner=author, replaces=replaces, idempotency_key=key_of(file, token))
        except (UploadRefused, NoSpace) as error:
            refused.append(RefusedFile(filename=file.filename, reason=str(error)))
        except MediaNotFound:
            refused.append(RefusedFile(filename=file.filename, reason="The photo that it replaces was deleted."))
        except OperationalError:
            refused.append(RefusedFile(filename=file.filename, reason="The server was busy. Please choose it again."))
        else:
            if replaces is None:
                added.append(EntryPhoto(media_id=accepted.media_id))
    return TakenFiles(added=tuple(added), refused=tuple(refused))


def key_of(file: ReceivedFile, token: str) -> str | None:
    """Return what makes a second sending of this file in this form known."""
    return f"editor:{token}:{file.sha256}" if token else None


def _files(form: ReceivedForm) -> Iterator[tuple[ReceivedFile, UUID | None]]:
    """Give each file, and the Media that it replaces: that of the row in which it was chosen."""
    row: EntryPhoto | None = None
    for name, value in form.fields:
        if name == PHOTO and isinstance(value, str):
            row = row_of(value, alt="", caption="")
        elif isinstance(value, ReceivedFile) and name == FILES:
            yield value, None
        elif isinstance(value, ReceivedFile) and name == REPLACEMENT:
            yield value, row.media_id if row else None


def row_of(which: str, *, alt: str, caption: str) -> EntryPhoto | None:
    if which.startswith(("http://", "https://")):
        return EntryPhoto(url=which, alt=_text(alt), caption=_text(caption))
    try:
        return EntryPhoto(media_id=UUID(which), alt=_text(alt), caption=_text(caption))
    except ValueError:
        return None


def _text(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


def keep_texts(photos: Iterable[EntryPhoto], before: Iterable[EntryPhoto]) -> tuple[EntryPhoto, ...]:
    """Return the photos with the texts that they had, where those differ in nothing that a form can say."""
    known = {(photo.media_id, photo.url): photo for photo in before}
    return tuple(_with_known_texts(photo, known.get((photo.media_id, photo.url))) for photo in photos)


def has_gone(photos: Iterable[EntryPhoto], author: Author, *, attached: Iterable[EntryPhoto]) -> bool:
    """Tell whether an image that is not yet in the post was deleted, or is not the author's."""
    wanted = {photo.media_id for photo in photos if photo.media_id} - {photo.media_id for photo in attached}
    return bool(wanted) and Media.objects.live().filter(pk__in=wanted, owner=author).count() < len(wanted)


def _with_known_texts(photo: EntryPhoto, known: EntryPhoto | None) -> EntryPhoto:
    if known is None:
        return photo
    alt = known.alt if _text(known.alt) == photo.alt else photo.alt
    caption = known.caption if _text(known.caption) == photo.caption else photo.caption
    return replace(photo, alt=alt, caption=caption)
