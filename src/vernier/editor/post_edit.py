"""Write a new post, or change one: one form, which works without scripts and never loses what was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.db import OperationalError
from django.http import Http404
from django.shortcuts import redirect
from django.urls import get_script_prefix, reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from vernier.editor.photos import has_gone, keep_texts, move, remove, row_of, rows_of, take_files
from vernier.editor.post_form import LINKS, PostForm, new_token, shown_values
from vernier.editor.post_page import FormPage
from vernier.editor.post_save import save, saved_as
from vernier.editor.views import author_of, editor_view
from vernier.media_api.received import received_form
from vernier.posts.addresses import post_url
from vernier.posts.entry import Entry, EntryPhoto, Status
from vernier.posts.exceptions import PostChanged, PostEmpty, PostNotFound, PropertyInvalid
from vernier.posts.models import Post

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest, HttpResponse

# Names the form that was saved last, so that the script forgets its copy of the text.
SAVED_COOKIE = "editor_saved"
_SAVED_SECONDS = 24 * 3600
# What an address can fill the form with, for bookmarks in a browser: `/editor/new?in-reply-to=https://…`.
_PREFILLED = {"title": "title", "content": "content", "tags": "tags", **LINKS}
_STATUSES = {"publish": Status.PUBLISHED, "draft": Status.DRAFT}

_SIGNED_OUT = "You were signed out, so nothing is saved yet; your text is still here."
_STALE = "This page was opened before you signed in, so nothing is saved yet; your text is still here."
_AGAIN = "Press the button again."
_FILES_AGAIN = "Photos that were just chosen have to be chosen again."
_CHANGED = (
    "This post was changed elsewhere while you were writing. Nothing of yours is lost, and nothing is saved yet."
    " Saving again replaces the other version."
)
_DELETED = "This post was deleted meanwhile, so nothing is saved. Restore it in the list of deleted posts first."
_BUSY = "The server is busy, so nothing is saved yet. Please press the button again."
_EMPTY = "The post is empty. Write something, or add a photo."
_GONE = "A photo was deleted meanwhile. Remove it from the post, and press the button again."
_DESCRIBE = "Saved. Please describe the new photos for people who cannot see them."


@require_http_methods(["GET", "HEAD", "POST"])
@editor_view(keeps_posts=True)
def new(request: HttpRequest) -> HttpResponse:
    """Show an empty form, or write the post in it."""
    if request.method == "POST":
        return _submit(request, None)
    initial = {**shown_values(Entry()), "token": new_token()}
    for name, parameter in _PREFILLED.items():
        initial[name] = request.GET.get(parameter, "").replace("\0", "") or initial[name]
    rows = (row_of(which, alt="", caption="") for which in request.GET.getlist("photo"))
    photos = tuple(photo for photo in rows if photo is not None)
    return FormPage(form=PostForm(initial=initial), photos=photos).response(request)


@require_http_methods(["GET", "HEAD", "POST"])
@editor_view(keeps_posts=True)
def edit(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Show the post in the form, or write what was changed in it."""
    if request.method == "POST":
        return _submit(request, post_id)
    post = _own_post(request, post_id)
    if post.deleted_at is not None:
        return redirect(f"{reverse('editor:posts')}?show=deleted")
    initial = {**shown_values(post.entry), "token": new_token(), "revision": post.revision}
    return FormPage(form=PostForm(initial=initial), photos=post.entry.photos, post=post).response(request)


def form_again(request: HttpRequest) -> HttpResponse:
    """Show the form as it was sent, because the check of its origin has failed; nothing of it was taken."""
    if not request.user.is_authenticated:
        return _signed_out(request)
    received = received_form(request)
    notes = (_STALE, _AGAIN, *([_FILES_AGAIN] if received.files else []))
    page = FormPage(form=PostForm(request.POST), photos=rows_of(received), notes=notes, status=403)
    return page.response(request)


def _submit(request: HttpRequest, post_id: UUID | None) -> HttpResponse:
    if not request.user.is_authenticated:
        return _signed_out(request)
    author, received = author_of(request), received_form(request)
    post = None if post_id is None else _own_post(request, post_id)
    before = post.entry if post else Entry()
    form = PostForm(request.POST, initial=shown_values(before))
    taken = take_files(received, author, token=form.data.get("token", ""))
    photos = keep_texts((*rows_of(received), *taken.added), before.photos)
    page = FormPage(form=form, photos=photos, post=post, refused=taken.refused)
    verb, _, position = request.POST.get("action", "").partition(":")
    if verb in {"up", "down", "remove"}:
        return page.with_photos(_moved(photos, verb, position)).response(request)
    if has_gone(photos, author, attached=before.photos):
        form.add_error(None, _GONE)
    if taken.refused or not form.is_valid():
        return page.with_status(422).response(request)
    status = _STATUSES.get(verb, before.status if post else Status.DRAFT)
    return _save(request, page, status, has_new_photos=bool(taken.added))


def _save(request: HttpRequest, page: FormPage, status: Status, *, has_new_photos: bool) -> HttpResponse:
    """Write the post and lead to it; or show the form again with what stands in the way."""
    author, form = author_of(request), page.form
    try:
        post = save(author, form, page.photos, page.post, status=status)
    except PropertyInvalid as error:
        form.add_property_error(error.name, str(error))
        return page.with_status(422).response(request)
    except PostEmpty:
        form.add_error(None, _EMPTY)
        return page.with_status(422).response(request)
    except PostChanged:
        post_id = page.post.pk if page.post else saved_as(author, form.cleaned_data["token"])
        return page.changed_elsewhere(_own_post(request, post_id), _CHANGED).response(request)
    except PostNotFound:
        return page.with_notes(_DELETED, status=409).response(request)
    except OperationalError:
        return page.with_notes(_BUSY, status=503).response(request)
    response = redirect(_after(request, post, has_new_photos=has_new_photos))
    token = form.cleaned_data["token"]
    response.set_cookie(
        SAVED_COOKIE,
        token,
        max_age=_SAVED_SECONDS,
        path=reverse("editor:posts"),
        secure=request.is_secure(),
        samesite="Lax",
    )
    return response


def _after(request: HttpRequest, post: Post, *, has_new_photos: bool) -> str:
    """Return where the author goes: to the published post; to the form where there is more to do."""
    now = timezone.now()
    form = reverse("editor:post", args=[post.pk])
    if has_new_photos:
        messages.success(request, _DESCRIBE)
        return f"{form}#photos"
    if post.is_scheduled(now=now) and post.published_at is not None:
        messages.success(request, f"Scheduled for {timezone.localtime(post.published_at):%d %B %Y, %H:%M}.")
        return form
    if post.status == Status.DRAFT:
        messages.success(request, "The draft is saved.")
        return form
    return post_url(get_script_prefix().rstrip("/"), post)


def _signed_out(request: HttpRequest) -> HttpResponse:
    received = received_form(request)
    notes = (_SIGNED_OUT, *([_FILES_AGAIN] if received.files else []))
    page = FormPage(
        form=PostForm(request.POST), photos=rows_of(received), notes=notes, is_signed_out=True, status=403
    )
    return page.response(request)


def _own_post(request: HttpRequest, post_id: UUID) -> Post:
    post = Post.objects.filter(pk=post_id, author=author_of(request)).first()
    if post is None:
        raise Http404
    return post


def _moved(photos: tuple[EntryPhoto, ...], verb: str, position: str) -> tuple[EntryPhoto, ...]:
    if not (position.isascii() and position.isdigit() and len(position) < len("1000")):
        return photos
    if verb == "remove":
        return remove(photos, int(position))
    return move(photos, int(position), by=-1 if verb == "up" else 1)
