"""Export: everything that authors have made, as files that other software reads and `vernier import` takes back."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from vernier.authors.models import Author
from vernier.exchange.documents import Document, format_document
from vernier.exchange.exceptions import DirectoryNotEmpty
from vernier.exchange.profiles import FILE_NAME
from vernier.media.models import Media
from vernier.media.storages import COPY_BYTES, originals_storage, renditions_storage, staging_storage
from vernier.media.variants import FALLBACK
from vernier.posts.addresses import media_id_of
from vernier.posts.entry import ContentFormat
from vernier.posts.models import Post

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from uuid import UUID

    from django.core.files.storage import Storage
    from django.db.models import QuerySet

    from vernier.media.models import Version
    from vernier.posts.models import Photo

POSTS = "posts"
IMAGES = "images"
# So many rows are in memory at a time.
_BATCH_ROWS = 100
# A permalink "2026/11/a-walk" is a file two directories deep, and the images are beside the posts.
UP = "../../../"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What an export has written, and the images of which there is no file (not processed yet, failed, lost)."""

    posts: int
    images: int
    without_file: tuple[UUID, ...]


def export_site(directory: Path, *, base: str, on_progress: Callable[[], None] = lambda: None) -> Exported:
    """Write all posts, images and profiles into a new or empty directory; raise DirectoryNotEmpty.

    Deleted posts and images are left out. `on_progress` is called for each post and each image.
    """
    if directory.exists() and any(directory.iterdir()):
        raise DirectoryNotEmpty(f"The directory {directory} is not empty; name a new one.")
    directory.mkdir(parents=True, exist_ok=True)
    files = dict(_export_images(directory, on_progress))
    posts = 0
    for post in _posts().iterator(chunk_size=_BATCH_ROWS):
        _write(directory / POSTS / f"{post.path}.md", format_document(_document(post, base, files)))
        posts += 1
        on_progress()
    _write(directory / FILE_NAME, yaml.safe_dump(list(_profiles(files)), allow_unicode=True, sort_keys=False))
    return Exported(
        posts=posts,
        images=sum(file is not None for file in files.values()),
        without_file=tuple(media_id for media_id, file in files.items() if file is None),
    )


def count_exported() -> int:
    """Return how many posts and images an export has to write."""
    return _posts().count() + _media().count()


def _posts() -> QuerySet[Post]:
    return (
        Post.objects.live()
        .order_by("created_at", "pk")
        .select_related("author")
        .prefetch_related("photos", "tags", "permalinks")
    )


def _media() -> QuerySet[Media]:
    return Media.objects.live().order_by("created_at", "pk").select_related("current")


def _export_images(directory: Path, on_progress: Callable[[], None]) -> Iterator[tuple[UUID, str | None]]:
    """Write the best file that there is of each Media; yield its path in the export, or None where there is none."""
    for media in _media().iterator(chunk_size=_BATCH_ROWS):
        copies = ((f"{IMAGES}/{media.pk}.{extension}", storage, key) for storage, key, extension in _sources(media))
        name = next((name for name, storage, key in copies if _copy(storage, key, directory / name)), None)
        on_progress()
        yield media.pk, name


def _sources(media: Media) -> Iterator[tuple[Storage, str, str]]:
    """Yield store, key and extension of the original, kept or waiting, then of what every program reads."""
    current, newest = media.current, _newest(media)
    if current is not None and current.original_key:
        yield originals_storage(), current.original_key, current.extension
    if current is None and newest.staging_key:
        yield staging_storage(), newest.staging_key, newest.extension
    if current is not None:
        for rendition in current.renditions.filter(variant=FALLBACK, lost_at=None):
            yield renditions_storage(), rendition.storage_key, rendition.extension


def _newest(media: Media) -> Version:
    return media.versions.get(number=media.newest_number)


def _copy(storage: Storage, key: str, file: Path) -> bool:
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with storage.open(key) as source, file.open("xb") as target:
            shutil.copyfileobj(source, target, COPY_BYTES)
    except FileNotFoundError:
        file.unlink(missing_ok=True)
        return False
    return True


def _document(post: Post, base: str, files: dict[UUID, str | None]) -> Document:
    entry = post.entry
    published = entry.published_at.isoformat() if entry.published_at else None
    others = sorted(link.path for link in post.permalinks.all() if link.path != post.path)
    head: dict[str, Any] = {
        "id": str(post.pk),
        "title": entry.title,
        "summary": entry.summary,
        "author": post.author.get_username(),
        "date": published,
        "updated": post.updated_at.isoformat(),
        "status": str(entry.status),
        "visibility": str(entry.visibility),
        "permalinks": [post.path, *others],
        "tags": list(entry.tags),
        "photos": [_photo(photo, files) for photo in post.photos.all()],
        "format": post.content_format if post.content_format != ContentFormat.MARKDOWN else "",
        "properties": entry.properties,
    }
    return Document(
        head={name: value for name, value in head.items() if value not in ("", None, [], {})},
        body=_with_files(post.content, base, files),
    )


def _photo(photo: Photo, files: dict[UUID, str | None]) -> dict[str, str]:
    """Return what names the photo: its file, its address elsewhere, or what there is no file of."""
    file = files.get(photo.media_id) if photo.media_id else None
    place = {"file": f"{UP}{file}"} if file else {"url": photo.url} if photo.url else {"missing": str(photo.media_id)}
    texts = {"alt": photo.alt, "caption": photo.caption}
    return {**place, **{name: text for name, text in texts.items() if text}}


def _with_files(content: str, base: str, files: dict[UUID, str | None]) -> str:
    """Return the content with the addresses of our images replaced by their files in the export."""

    def file_of(match: re.Match[str]) -> str:
        media_id = media_id_of(base, match[0])
        file = files.get(media_id) if media_id else None
        return f"{UP}{file}" if file else match[0]

    return re.sub(rf"{re.escape(base)}/media/[0-9a-f-]{{36}}(?:/v\d+/\w+\.\w+)?", file_of, content)


def _profiles(files: dict[UUID, str | None]) -> Iterator[dict[str, Any]]:
    for author in Author.objects.order_by("pk").iterator():
        photo = files.get(author.photo_id) if author.photo_id else None
        profile = {
            "name": author.get_username(),
            "display_name": author.display_name,
            "email": author.email,
            "note": author.note,
            "links": author.links,
            "photo": photo or "",
        }
        yield {name: value for name, value in profile.items() if value}


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("x", encoding="utf-8") as opened:
        opened.write(text)
