"""The page with the form of a post."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from vernier.editor.states import ImageState, State, image_states
from vernier.editor.uploads import accepted_types
from vernier.media.conf import MIB, media_settings
from vernier.posts.entry import Status

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest, HttpResponse

    from vernier.editor.photos import RefusedFile
    from vernier.editor.post_form import PostForm
    from vernier.posts.entry import EntryPhoto
    from vernier.posts.models import Post

# The fields in the folded parts of the form.
_MORE = ("in_reply_to", "rsvp", "like_of", "repost_of", "bookmark_of")
_SETTINGS = ("published", "visibility", "slug", "summary", "syndication")


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotoRow:
    """A photo in the form; no image where it is elsewhere, or cannot be looked up."""

    photo: EntryPhoto
    image: ImageState | None
    position: int
    is_last: bool
    # Nothing is left of it, or it never was the author's.
    is_gone: bool = False

    @property
    def state(self) -> str:
        if self.image:
            return self.image.state
        return State.DELETED if self.is_gone else "elsewhere"

    @property
    def key(self) -> str:
        """What the form sends for it."""
        return str(self.photo.media_id or self.photo.url)

    @property
    def number(self) -> int:
        return self.position + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FormPage:
    """What the form is shown with."""

    form: PostForm
    photos: tuple[EntryPhoto, ...] = ()
    post: Post | None = None
    refused: tuple[RefusedFile, ...] = ()
    # Sentences above the form: what stands in the way of saving.
    notes: tuple[str, ...] = ()
    is_changed_elsewhere: bool = False
    is_signed_out: bool = False
    status: int = 200

    def with_photos(self, photos: tuple[EntryPhoto, ...]) -> FormPage:
        return replace(self, photos=photos)

    def with_status(self, status: int) -> FormPage:
        return replace(self, status=status)

    def with_notes(self, *notes: str, status: int) -> FormPage:
        return replace(self, notes=notes, status=status)

    def changed_elsewhere(self, post: Post, note: str) -> FormPage:
        """Return the page with the author's text, which the next time is saved over this state of the post."""
        form = type(self.form)({**dict(self.form.data.items()), "revision": post.revision}, initial=self.form.initial)
        return replace(self, form=form, post=post, notes=(note,), is_changed_elsewhere=True, status=409)

    def response(self, request: HttpRequest) -> HttpResponse:
        return render(request, "editor/form.html", self._context(request), status=self.status)

    def _context(self, request: HttpRequest) -> dict[str, Any]:
        post, now = self.post, timezone.now()
        conf = media_settings()
        rows = self._rows(request)
        return {
            "form": self.form,
            "post": post,
            "rows": rows,
            "is_waiting": any(row.image and row.image.is_unfinished for row in rows),
            "page": self,
            "is_published": bool(post and post.status == Status.PUBLISHED),
            "is_scheduled": bool(post and post.is_scheduled(now=now)),
            "has_more": any(self.form[name].errors or self.form[name].value() for name in _MORE),
            "more": [self.form[name] for name in _MORE],
            "settings": [self.form[name] for name in _SETTINGS],
            "has_settings": any(self.form[name].errors for name in _SETTINGS),
            "types": ", ".join(name.upper() for name in conf.upload_types),
            "scope": post.pk if post else self._path_id(request) or "new",
            "accept": accepted_types(),
            "bytes_max": conf.upload_max_bytes,
            "megabytes_max": conf.upload_max_bytes // MIB,
            "login_url": reverse("editor:posts"),
        }

    @staticmethod
    def _path_id(request: HttpRequest) -> UUID | None:
        """Return which post the address names, of which nothing is known before its author has signed in."""
        match = request.resolver_match
        return match.kwargs.get("post_id") if match else None

    def _rows(self, request: HttpRequest) -> list[PhotoRow]:
        images: dict[UUID, ImageState] = {}
        ids = [photo.media_id for photo in self.photos if photo.media_id]
        if ids and request.user.is_authenticated:
            images = image_states(ids, owner_id=request.user.pk, now=timezone.now())
        last = len(self.photos) - 1
        return [
            PhotoRow(
                photo=photo,
                image=images.get(photo.media_id) if photo.media_id else None,
                position=position,
                is_last=position == last,
                is_gone=request.user.is_authenticated and bool(photo.media_id) and photo.media_id not in images,
            )
            for position, photo in enumerate(self.photos)
        ]
