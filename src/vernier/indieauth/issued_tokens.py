"""`/editor/tokens`: who may act for the author, taken back with a button or given by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from vernier.authors.models import AccessToken, issue_token
from vernier.indieauth.description import clean_name
from vernier.indieauth.grants import revoke_access_token
from vernier.indieauth.scopes import SENTENCES, grantable

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse

    from vernier.authors.models import Author

# A page is no archive: the newest are those that an author looks for.
SHOWN_MAX = 200
# What a program that posts needs.
_TICKED = ("create", "update", "delete", "media")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def issued_tokens(request: HttpRequest) -> HttpResponse:
    """List the valid tokens of the author who is signed in; revoke one, or make one and show it this once."""
    author = cast("Author", request.user)
    match request.method, request.POST.get("action"):
        case "POST", "revoke":
            return _revoke(request, author)
        case "POST", _:
            return _issue(request, author)
    return _page(request, author)


def _revoke(request: HttpRequest, author: Author) -> HttpResponse:
    """Revoke one of the author's own; another's, or one that has ended, changes nothing."""
    now = timezone.now()
    number = request.POST.get("token", "")
    token = _valid_tokens(author, now=now).filter(pk=number).first() if _is_key(number) else None
    if token is None:
        messages.info(request, "That token has ended already.")
    else:
        revoke_access_token(token, now=now)
        messages.success(request, f"{token.name or 'The token'} has no access any more.")
    return redirect("indieauth:tokens")


def _issue(request: HttpRequest, author: Author) -> HttpResponse:
    name = clean_name(request.POST.get("name", ""))
    ticked = request.POST.getlist("scope")
    scope = grantable(ticked, offered=tuple(SENTENCES))
    if not name:
        error = "Say what the token is for, to know it again in the list."
        return _page(request, author, error=error, ticked=ticked, status=400)
    if not scope:
        error = "Tick at least one thing that the token may do; the e-mail address goes with the profile only."
        return _page(request, author, error=error, name=name, ticked=ticked, status=400)
    return _page(request, author, secret=issue_token(author, scope=scope, name=name, now=timezone.now()))


def _page(request: HttpRequest, author: Author, *, status: int = 200, **context: object) -> HttpResponse:
    tokens = _valid_tokens(author, now=timezone.now()).order_by("-created_at", "-pk")[:SHOWN_MAX]
    defaults = {"tokens": tokens, "scopes": SENTENCES.items(), "ticked": _TICKED}
    return render(request, "vernier/indieauth/tokens.html", {**defaults, **context}, status=status)


def _valid_tokens(author: Author, *, now: datetime) -> QuerySet[AccessToken]:
    return AccessToken.objects.valid(now).filter(author=author)


def _is_key(text: str) -> bool:
    """Tell whether it can be a primary key: no more digits than a 64-bit number is sure to hold."""
    return text.isascii() and text.isdigit() and len(text) <= 18  # noqa: PLR2004 - 10**18 < 2**63
