"""The media library: every image of the author, how it is doing, why it failed, and where it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import Exists, OuterRef, Prefetch, Q
from django.http import Http404
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from vernier.authors.profile_photo import stop_using_as_profile_photo, use_as_profile_photo
from vernier.editor.paging import page_of
from vernier.editor.post_list import name_of
from vernier.editor.states import ImageState, image_states
from vernier.editor.uploads import accepted_types
from vernier.editor.views import author_of, editor_view
from vernier.media.delete import delete_media
from vernier.media.exceptions import MediaNotFound
from vernier.media.finish import process_again
from vernier.media.models import Media, Version
from vernier.media_api.links import base_url, media_url
from vernier.posts.models import Photo, Post

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest, HttpResponse

    from vernier.authors.models import Author
    from vernier.media.transitions import MediaQuerySet

_CHOICES = {
    "": "All",
    "processing": "Processing",
    "ready": "Ready",
    "failed": "Failed",
    "unused": "Unused",
}
_STATUSES = {
    "processing": (Version.Status.PENDING, Version.Status.PROCESSING),
    "ready": (Version.Status.READY, Version.Status.SUPERSEDED),
    "failed": (Version.Status.FAILED,),
}
# Posts that are named beside an image, and Versions on its page: one may be in any number of posts.
_USES_MAX = 3
_VERSIONS_MAX = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A post in which an image is."""

    post: Post
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaRow:
    """An image as the library shows it."""

    media: Media
    image: ImageState
    uses: list[Use]
    more_uses: int
    is_profile_photo: bool


@require_safe
@editor_view()
def library(request: HttpRequest) -> HttpResponse:
    """List the author's images, newest first; nothing is rendered for it."""
    show, now = request.GET.get("show", ""), timezone.now()
    if show not in _CHOICES:
        raise Http404
    owner = author_of(request)
    mine = _chosen(owner, show).prefetch_related(_uses())
    page = page_of(mine, after=request.GET.get("after", ""))
    images = image_states([media.pk for media in page.rows], owner_id=owner.pk, now=now)
    context = {
        "rows": [_row(media, images[media.pk], owner) for media in page.rows if media.pk in images],
        "older": urlencode({"show": show, "after": page.older}) if page.older else "",
        "choices": [(name, label, name == show) for name, label in _CHOICES.items()],
        "show": show,
        "is_first": "after" not in request.GET,
    }
    return render(request, "editor/library.html", context)


@require_safe
@editor_view()
def image(request: HttpRequest, media_id: UUID) -> HttpResponse:
    """Show one image, and what can be done with it."""
    owner, now = author_of(request), timezone.now()
    media = Media.objects.live().filter(pk=media_id, owner=owner).prefetch_related(_uses()).first()
    found = image_states([media_id], owner_id=owner.pk, now=now) if media else {}
    if media is None or media_id not in found:
        raise Http404
    context = {
        "row": _row(media, found[media_id], owner, uses_max=None),
        "url": media_url(base_url(request), media_id),
        "accept": accepted_types(),
        "versions": media.versions.order_by("-number")[:_VERSIONS_MAX],
    }
    return render(request, "editor/image.html", context)


@require_POST
@editor_view()
def delete(request: HttpRequest, media_id: UUID) -> HttpResponse:
    """Delete the image for good."""
    try:
        delete_media(media_id, owner=author_of(request))
    except MediaNotFound as error:
        raise Http404 from error
    messages.success(request, "The image is deleted.")
    return redirect("editor:library")


@require_POST
@editor_view()
def again(request: HttpRequest, media_id: UUID) -> HttpResponse:
    """Give an image that failed another try with the same file."""
    now = timezone.now()
    version = (
        Version.objects.newest()
        .filter(media=media_id, media__owner=author_of(request), media__deleted_at=None)
        .first()
    )
    if version is None:
        raise Http404
    if process_again(version, now=now):
        messages.success(request, "The image is processed again.")
    else:
        messages.error(request, "The file is no longer on the server. Please choose it, or another one.")
    return redirect("editor:image", media_id)


@require_POST
@editor_view()
def profile_photo(request: HttpRequest, media_id: UUID) -> HttpResponse:
    """Show the image in the author's profile, or no longer."""
    author = author_of(request)
    if request.POST.get("action") == "remove":
        stop_using_as_profile_photo(author, media_id)
        messages.success(request, "Your profile is shown without this photo.")
        return redirect("editor:image", media_id)
    try:
        use_as_profile_photo(author, media_id)
    except MediaNotFound as error:
        raise Http404 from error
    messages.success(request, "This is your profile photo now.")
    return redirect("editor:image", media_id)


def _chosen(owner: Author, show: str) -> MediaQuerySet:
    mine = Media.objects.live().filter(owner=owner)
    if show == "unused":
        mine = mine.filter(~Exists(Photo.objects.filter(media=OuterRef("pk"), post__deleted_at=None)))
        return mine.exclude(pk=owner.photo_id) if owner.photo_id else mine
    if not show:
        return mine
    statuses = _STATUSES[show]
    newest = Version.objects.filter(media=OuterRef("pk"), number=OuterRef("newest_number"), status__in=statuses)
    lost = Q(current__lost_at__isnull=False)
    if show == "failed":
        return mine.filter(Exists(newest) | lost)
    return mine.filter(Exists(newest), ~lost) if show == "ready" else mine.filter(Exists(newest))


def _uses() -> Prefetch[str]:
    uses = Photo.objects.filter(post__deleted_at=None).select_related("post").order_by("-post__created_at", "pk")
    return Prefetch("uses", queryset=uses)


def _row(media: Media, image_state: ImageState, owner: Author, *, uses_max: int | None = _USES_MAX) -> MediaRow:
    posts = {use.post_id: use.post for use in media.uses.all()}
    shown = list(posts.values())[:uses_max]
    return MediaRow(
        media=media,
        image=image_state,
        uses=[Use(post=post, name=name_of(post)) for post in shown],
        more_uses=len(posts) - len(shown),
        is_profile_photo=media.pk == owner.photo_id,
    )
