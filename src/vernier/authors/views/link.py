"""`/sign-in/SECRET`: a one-time link. Opening it shows a button: previews and mail scanners do not use it up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.http import HttpResponseRedirect
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from vernier.authors.accounts import create_author
from vernier.authors.forms import FirstAuthorForm
from vernier.authors.sign_in_link import find_link, is_usable, use_link
from vernier.authors.views.common import page, sign_in

if TYPE_CHECKING:
    from datetime import datetime

    from django.http import HttpRequest, HttpResponse

    from vernier.authors.models import Author, SignInLink


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def link(request: HttpRequest, secret: str) -> HttpResponse:
    """Sign the link's author in, or make the first one; 404 for no link, 410 for one that was used or has expired."""
    found, now = find_link(secret), timezone.now()
    if found is None:
        return page(request, "gone", {"is_known": False}, status=404)
    if not is_usable(found, now=now):
        return _gone(request, found)
    if found.author is None:
        return _make_first_author(request, found, now)
    if request.method != "POST":
        return page(request, "link", {"author": found.author})
    if not use_link(found, now=now):
        return _gone(request, found)
    sign_in(request, found.author, now=now, is_let_off=True)
    return redirect("authors:password")


def _make_first_author(request: HttpRequest, found: SignInLink, now: datetime) -> HttpResponse:
    form = FirstAuthorForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return page(request, "first_author", {"form": form})
    author = _use_for_first_author(form, found, now)
    if author is None:
        return _gone(request, found)
    sign_in(request, author, now=now, is_let_off=True)
    return HttpResponseRedirect(settings.LOGIN_REDIRECT_URL)


def _use_for_first_author(form: FirstAuthorForm, found: SignInLink, now: datetime) -> Author | None:
    """Use the link up and make the author, both or neither."""
    given = form.cleaned_data
    with transaction.atomic():
        if not use_link(found, now=now):
            return None
        return create_author(given["username"], display_name=given["display_name"], password=given["password"])


def _gone(request: HttpRequest, found: SignInLink) -> HttpResponse:
    return page(request, "gone", {"is_known": True, "author": found.author}, status=410)
