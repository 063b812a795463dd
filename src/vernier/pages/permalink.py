"""A post at its own address, at those that it had, and after it was deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import Http404, HttpResponsePermanentRedirect
from django.urls import Resolver404, resolve
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from vernier.pages.entries import load, reader_of, show
from vernier.pages.errors import GONE, error_page
from vernier.pages.respond import page
from vernier.posts.addresses import find_by_path
from vernier.posts.entry import Status, Visibility
from vernier.posts.models import Post

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponseBase

    from vernier.pages.entries import Reader


@require_safe
def permalink(request: HttpRequest, path: str) -> HttpResponseBase:
    """Show the post that is at this path; say where it went, or that it is gone."""
    reader = reader_of(request)
    readable = load(Post.objects.readable_by(reader.author_id, now=reader.now))
    post = readable.filter(path=path).first()
    if post is None:
        return _elsewhere(request, reader, path)
    entry = show([post], reader)[0]
    context = {"entry": entry, "canonical": entry.url}
    return page(request, "vernier/pages/post.html", context, modified_at=entry.modified_at)


@csrf_exempt
def any_other(request: HttpRequest, path: str) -> HttpResponseBase:
    """Answer whatever nothing else is at: an old permalink, or an address with a slash too many or too few.

    It is exempt from the CSRF check because it changes nothing: programs that post to a wrong address get 404.
    """
    if request.method not in {"GET", "HEAD"} or "\0" in path:
        raise Http404
    stripped = path.strip("/")
    if path.endswith("/") and _is_address(f"/{stripped}"):
        return HttpResponsePermanentRedirect(f"/{stripped}")
    if not path.endswith("/") and _is_address(f"/{path}/"):
        return HttpResponsePermanentRedirect(f"/{path}/")
    return _elsewhere(request, reader_of(request), stripped)


def _elsewhere(request: HttpRequest, reader: Reader, path: str) -> HttpResponseBase:
    """Redirect to where the post is now, or answer 410; of what the reader may not see, nothing is said: 404."""
    post = find_by_path(path)
    if post is None or not _may_know(post, reader):
        raise Http404
    if post.deleted_at is not None:
        return error_page(request, GONE)
    return HttpResponsePermanentRedirect(f"/{post.path}")


def _may_know(post: Post, reader: Reader) -> bool:
    """Tell whether the reader may read the post, or might if it were not deleted."""
    was_open = (
        post.status == Status.PUBLISHED
        and post.visibility != Visibility.PRIVATE
        and not post.is_scheduled(now=reader.now)
    )
    return was_open or post.author_id == reader.author_id


def _is_address(path: str) -> bool:
    """Tell whether something other than `any_other` is at this path."""
    try:
        return resolve(path).func is not any_other
    except Resolver404:
        return False
