"""Import: a folder of Markdown files with front matter and of images. Importing it again changes nothing.

It reads what `export` writes and, of what static site generators write, the names that they agree on.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from uuid import NAMESPACE_URL, UUID, uuid5

from vernier.authors.models import Author
from vernier.exchange.documents import Document, read_document
from vernier.exchange.exceptions import DocumentInvalid, ExchangeError
from vernier.exchange.export import IMAGES, UP
from vernier.exchange.front_matter import DATED_NAME, format_of, list_of, properties_of
from vernier.exchange.profiles import FILE_NAME, find_profile, take_profile
from vernier.media import accept_upload
from vernier.media.conf import media_settings
from vernier.media.exceptions import MediaError
from vernier.media.models import Version
from vernier.media.sniff import SNIFF_BYTES, sniff
from vernier.media.storages import COPY_BYTES
from vernier.posts.entry import Content, Entry, EntryPhoto
from vernier.posts.exceptions import PostError, PropertyInvalid
from vernier.posts.mf2 import assign, parse_time
from vernier.posts.models import Post
from vernier.posts.write import Origin, check_new, create_post

if TYPE_CHECKING:
    from collections.abc import Iterator

_DOCUMENTS = {".md", ".markdown"}
_IMAGES = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".avif", ".heic"}
# What stands in an `![alt](address)` of Markdown or a `src="address"` of HTML, if it is no address of the web; spaces
# may be in it between angle brackets or quotation marks.
_IN_TEXT = re.compile(
    r"""(?P<before>!\[[^\]]*\]\(\s*<?|<img\b[^>]*?\bsrc=["'])"""
    r"""(?P<file>(?<=<)[^<>\n]+(?=>)|(?<=["'])[^"'<>\n]+(?=["'])|[^)\s"'>]+)"""
)
# An image as an export names it, wherever in the text that is: in a link to it, or by itself.
_EXPORTED = re.compile(rf"{re.escape(UP)}(?P<file>{IMAGES}/[0-9a-f-]{{36}}\.[a-z]+)")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)
_PATH = re.compile(r"\d{1,4}/\d{2}/[a-z0-9_-]{1,80}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What has become of one file: `new`, `known` (it was imported before) or `refused`, with a sentence."""

    file: Path
    outcome: str
    detail: str = ""


def find_files(folder: Path) -> list[Path]:
    """Return the documents, then the images, below the folder; hidden files and links are left out."""
    found = (
        Path(directory, name)
        for directory, _, names in os.walk(folder)
        for name in names
        if not any(part.startswith(".") for part in Path(directory, name).relative_to(folder).parts)
    )
    files = sorted(file for file in found if file.suffix.lower() in _DOCUMENTS | _IMAGES and not file.is_symlink())
    return sorted(files, key=lambda file: file.suffix.lower() in _IMAGES)


class Importer:
    """Imports the files of one folder for one author; with `is_dry_run` it only tells what would become of them."""

    def __init__(
        self, folder: Path, author: Author, *, base: str, is_dry_run: bool = False, makes_posts: bool = False
    ) -> None:
        self._folder = folder.resolve()
        self._author = author
        self._base = base
        self._is_dry_run = is_dry_run
        self._makes_posts = makes_posts
        # By their bytes: an image that several posts show, or that was imported before, is one Media.
        self._media_by_sha256 = _own_media(author)
        self._used: set[Path] = set()

    def take(self, file: Path) -> Imported:
        """Import one file of the folder; what is wrong with it is said and keeps no other back."""
        try:
            is_new = self._take_image(file) if file.suffix.lower() in _IMAGES else self._take_document(file)
        except (ExchangeError, PostError, MediaError) as error:
            return Imported(file=file, outcome="refused", detail=str(error))
        except OSError as error:
            return Imported(file=file, outcome="refused", detail=f"{error.strerror or error}.")
        return Imported(file=file, outcome="new" if is_new else "known")

    def take_profile(self) -> Imported | None:
        """Import what the folder says of the author's profile, if it does; a dry run leaves it."""
        file = self._folder / FILE_NAME
        try:
            profile = find_profile(self._folder, self._author)
            if profile is None or self._is_dry_run:
                return None
            is_new = take_profile(profile, self._author, upload=lambda name: self._upload(self._file(file, name)))
        except (ExchangeError, MediaError) as error:
            return Imported(file=file, outcome="refused", detail=str(error))
        return Imported(file=file, outcome="new" if is_new else "known")

    def _take_document(self, file: Path) -> bool:
        document = read_document(file)
        self._require_own(document)
        # Its images are uploaded even if it is here: one that was lost since comes back.
        entry = self._entry(file, document)
        check_new(entry)
        origin = self._origin(file, document.head, published_at=entry.published_at)
        if self._is_dry_run:
            return not Post.objects.filter(pk=origin.post_id).exists()
        return create_post(self._author, entry, origin=origin).is_new

    def _require_own(self, document: Document) -> None:
        """Raise DocumentInvalid for the post of another author of this site: it is not to become this one's."""
        name = document.head.get("author")
        others = Author.objects.filter(username=name).exclude(pk=self._author.pk) if isinstance(name, str) else None
        if others is not None and others.exists():
            raise DocumentInvalid(f"It is a post by {name}; import it with --author {name}.")

    def _take_image(self, file: Path) -> bool:
        """Import an image that no document has shown: into the media library, or as a post of its own."""
        if file in self._used:
            return False
        known = set(self._media_by_sha256)
        media_id = self._upload(file)
        is_new = set(self._media_by_sha256) != known
        if not self._makes_posts:
            return is_new
        post_id = self._id_of(file)
        if self._is_dry_run:
            return not Post.objects.filter(pk=post_id).exists()
        taken_at = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        entry = Entry(photos=(EntryPhoto(media_id=media_id),), published_at=taken_at)
        return create_post(self._author, entry, origin=Origin(post_id=post_id, updated_at=taken_at)).is_new

    def _origin(self, file: Path, head: dict[str, Any], *, published_at: datetime | None) -> Origin:
        """Return what the file says of the past of its post; where it names no change, there was none."""
        given = head.get("id")
        try:
            post_id = UUID(given) if isinstance(given, str) else self._id_of(file)
        except ValueError:
            post_id = self._id_of(file)
        paths = [str(path).strip("/") for path in list_of(head.get("permalinks"))]
        updated = head.get("updated") or head.get("lastmod")
        return Origin(
            post_id=post_id,
            paths=tuple(path for path in paths if _PATH.fullmatch(path)),
            updated_at=parse_time("updated", updated) if updated else published_at,
        )

    def _id_of(self, file: Path) -> UUID:
        """Return the id of a post whose file names none: the same whenever the file is imported for this author."""
        return uuid5(NAMESPACE_URL, f"{self._author.get_username()}:{file.relative_to(self._folder).as_posix()}")

    def _entry(self, file: Path, document: Document) -> Entry:
        head = document.head
        entry, name_of_post = Entry(), self._name_of(file)
        for name, values in properties_of(head, name_of_post).items():
            entry = assign(entry, name, values, base=self._base)
        source = self._with_images(file, document.body)
        content = Content(format=format_of(head), source=source) if source.strip() else None
        # Of a photo that an export calls missing there was no file to write.
        given = (one for one in list_of(head.get("photos")) if not (isinstance(one, dict) and "missing" in one))
        photos = tuple(self._photo(file, one) for one in given)
        slug = head.get("slug") or DATED_NAME.sub("", name_of_post)
        return Entry(
            title=entry.title,
            summary=entry.summary,
            content=content,
            photos=photos,
            tags=entry.tags,
            published_at=entry.published_at,
            status=entry.status,
            visibility=entry.visibility,
            slug=str(slug),
            properties=entry.properties,
        )

    def _name_of(self, file: Path) -> str:
        """Return what the file is called, or its directory where generators keep a post with its images in one."""
        return file.parent.name if file.stem == "index" and file.parent != self._folder else file.stem

    def _photo(self, document: Path, given: object) -> EntryPhoto:
        given = {"file": given} if isinstance(given, str) else given
        if not isinstance(given, dict):
            raise PropertyInvalid("photos", given, "a list of files, or of file, alt and caption")
        texts = {name: str(given.get(name) or "") for name in ("alt", "caption")}
        place = str(given.get("file") or given.get("url") or "")
        if _ELSEWHERE.match(place):
            linked = assign(Entry(), "photo", [{"value": place}], base=self._base).photos[0]
            return EntryPhoto(media_id=linked.media_id, url=linked.url, **texts)
        return EntryPhoto(media_id=self._upload(self._file(document, place)), **texts)

    def _with_images(self, document: Path, body: str) -> str:
        """Return the text with the images in it uploaded and named by their addresses."""

        def replace_exported(match: re.Match[str]) -> str:
            is_here = (document.parent / match[0]).is_file()
            return self._address(document, match[0]) if is_here else match[0]

        def replace(match: re.Match[str]) -> str:
            if _ELSEWHERE.match(match["file"]):
                return match[0]
            return match["before"] + self._address(document, unquote(match["file"]))

        return _IN_TEXT.sub(replace, _EXPORTED.sub(replace_exported, body))

    def _address(self, document: Path, name: str) -> str:
        """Return the address of the image that a document names, uploaded where it is not yet."""
        return f"{self._base}/media/{self._upload(self._file(document, name))}"

    def _file(self, document: Path, name: str) -> Path:
        """Return the file that a document names, relative to itself or from the top of the folder; none outside."""
        if "\0" in name:
            raise DocumentInvalid(f"No image can be called {name!r}.")
        start = self._folder if name.startswith("/") else document.parent
        file = (start / name.lstrip("/")).resolve()
        if not file.is_relative_to(self._folder):
            raise DocumentInvalid(f"The image {name} is outside of the folder.")
        if not file.is_file():
            raise DocumentInvalid(f"The image {name} is not there.")
        return file

    def _upload(self, file: Path) -> UUID:
        """Return the Media with the bytes of the file, uploaded where there is none; a dry run only looks."""
        self._used.add(file)
        sha256 = _sha256(file)
        if sha256 not in self._media_by_sha256:
            if self._is_dry_run:
                _check_image(file)
                # Stands for the Media that there would be.
                media_id = uuid5(NAMESPACE_URL, sha256)
            else:
                key = f"import-{sha256}"
                media_id = accept_upload(_chunks(file), owner=self._author, idempotency_key=key).media_id
            self._media_by_sha256[sha256] = media_id
        return self._media_by_sha256[sha256]


def _own_media(author: Author) -> dict[str, UUID]:
    """Return the author's images that are not deleted, by the SHA-256 of the original that is served or coming."""
    versions = Version.objects.filter(media__owner=author, media__deleted_at=None).exclude(
        status__in=(Version.Status.FAILED, Version.Status.SUPERSEDED)
    )
    return dict(versions.values_list("sha256", "media_id").iterator())


def _check_image(file: Path) -> None:
    """Raise DocumentInvalid for what an upload would refuse at once."""
    conf = media_settings()
    with file.open("rb") as opened:
        found = sniff(opened.read(SNIFF_BYTES))
    if found is None or found.name not in conf.upload_types:
        raise DocumentInvalid(
            f"The image {file.name} is of no type that is accepted: {', '.join(conf.upload_types)}."
        )
    if file.stat().st_size > conf.upload_max_bytes:
        raise DocumentInvalid(f"The image {file.name} has more than {conf.upload_max_bytes} bytes.")


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _chunks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as opened:
        while chunk := opened.read(COPY_BYTES):
            yield chunk
