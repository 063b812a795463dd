"""The author's posts: a list with drafts, and what can be done with a post beside writing it."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.db.models import Q
from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from vernier.editor.paging import page_of
from vernier.editor.states import ImageState, Picture, image_states
from vernier.editor.views import author_of, editor_view
from vernier.posts.content import plain_text
from vernier.posts.delete import delete_post, undelete_post
from vernier.posts.entry import Status
from vernier.posts.exceptions import PostNotFound
from vernier.posts.models import Post

if TYPE_CHECKING:
    from datetime import datetime

    from django.http import HttpRequest, HttpResponse

    from vernier.posts.models import PostQuerySet

# So much of its text names a post without a title.
_NAME_CHARACTERS_MAX = 90
_TARGETS = ("in-reply-to", "like-of", "repost-of", "bookmark-of")
_CHOICES = {
    "": "All",
    "drafts": "Drafts",
    "scheduled": "Scheduled",
    "published": "Published",
    "deleted": "Deleted",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PostRow:
    """A post as the list shows it."""

    post: Post
    name: str
    state: str
    label: str
    at: datetime
    # How far ahead its time is, for a scheduled one.
    due_seconds: int | None
    picture: Picture | None
    waiting: int
    failed: int


@require_safe
@editor_view()
def posts(request: HttpRequest) -> HttpResponse:
    """List the author's posts, newest first."""
    now, show = timezone.now(), request.GET.get("show", "")
    if show not in _CHOICES:
        raise Http404
    mine = _chosen(Post.objects.filter(author=author_of(request)), show, now).prefetch_related("photos")
    page = page_of(mine, after=request.GET.get("after", ""))
    ids = [photo.media_id for post in page.rows for photo in post.photos.all() if photo.media_id]
    images = image_states(ids, owner_id=author_of(request).pk, now=now)
    context = {
        "rows": [_row(post, images, now) for post in page.rows],
        "older": urlencode({"show": show, "after": page.older}) if page.older else "",
        "choices": [(name, label, name == show) for name, label in _CHOICES.items()],
        "show": show,
        "is_first": "after" not in request.GET,
        "undo": _undo(request),
    }
    return render(request, "editor/posts.html", context)


@require_POST
@editor_view()
def delete(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Delete the post, and lead to the list, where that can be undone."""
    try:
        delete_post(author_of(request), post_id)
    except PostNotFound as error:
        raise Http404 from error
    return redirect(f"{reverse('editor:posts')}?{urlencode({'undo': post_id})}")


@require_POST
@editor_view()
def restore(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Bring a deleted post back."""
    try:
        post = undelete_post(author_of(request), post_id)
    except PostNotFound as error:
        raise Http404 from error
    messages.success(request, "The post is back.")
    return redirect("editor:post", post.pk)


def _chosen(mine: PostQuerySet, show: str, now: datetime) -> PostQuerySet:
    if show == "deleted":
        return mine.filter(deleted_at__isnull=False)
    mine = mine.filter(deleted_at=None)
    conditions = {
        "drafts": Q(status=Status.DRAFT),
        "scheduled": Q(status=Status.PUBLISHED, published_at__gt=now),
        "published": Q(status=Status.PUBLISHED, published_at__lte=now),
    }
    return mine.filter(conditions[show]) if show else mine


def _row(post: Post, images: dict[UUID, ImageState], now: datetime) -> PostRow:
    photos = [images[photo.media_id] for photo in post.photos.all() if photo.media_id in images]
    state, label = _state(post, now)
    return PostRow(
        post=post,
        name=name_of(post),
        state=state,
        label=label,
        at=post.deleted_at or post.published_at or post.created_at,
        due_seconds=_due_seconds(post, now),
        picture=next((image.picture for image in photos if image.picture), None),
        waiting=sum(image.is_unfinished for image in photos),
        failed=sum(image.needs_author for image in photos),
    )


def _state(post: Post, now: datetime) -> tuple[str, str]:
    if post.deleted_at is not None:
        return "deleted", "Deleted"
    if post.status == Status.DRAFT:
        return "draft", "Draft"
    if post.is_scheduled(now=now):
        return "scheduled", "Scheduled"
    return "published", "Published"


def _due_seconds(post: Post, now: datetime) -> int | None:
    if post.published_at is None or post.deleted_at is not None or not post.is_scheduled(now=now):
        return None
    return ceil((post.published_at - now).total_seconds())


def name_of(post: Post) -> str:
    """Return what a list calls the post: its title, the beginning of its text, or what it is."""
    text = " ".join((post.title or plain_text(post.content_html) or post.summary).split())
    if not text:
        text = (
            next((url for name in _TARGETS for url in post.targets(name)), "")
            or f"{post.get_kind_display()} without text"
        )
    return text if len(text) <= _NAME_CHARACTERS_MAX else f"{text[:_NAME_CHARACTERS_MAX].rstrip()}…"


def _undo(request: HttpRequest) -> Post | None:
    """Return the post that was deleted just now, whose deletion can be undone with one press."""
    try:
        post_id = UUID(request.GET.get("undo", ""))
    except ValueError:
        return None
    return Post.objects.filter(pk=post_id, author=author_of(request), deleted_at__isnull=False).first()
