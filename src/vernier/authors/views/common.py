"""What the pages for signing in have in common."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth import login
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from vernier.authors.client_address import client_address

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from vernier.authors.limits import TooManyTries
    from vernier.authors.models import Author

logger = logging.getLogger("vernier.authors")

# Who has just proved by link or mail who they are may set a password without knowing the old one.
LET_OFF_FOR = timedelta(minutes=15)
_LET_OFF_UNTIL = "password_let_off_until"


def page(
    request: HttpRequest, template: str, context: dict[str, Any] | None = None, *, status: int = 200
) -> HttpResponse:
    """Render a page whose address stays on this site: it may hold a secret, and the check of forms needs it here."""
    response = render(request, f"authors/{template}.html", context, status=status)
    response.headers["Referrer-Policy"] = "same-origin"
    return response


def too_many_tries(request: HttpRequest, error: TooManyTries) -> HttpResponse:
    """Answer 429 with the time after which it goes on; the log tells the operator who tries."""
    client = client_address(request)
    logger.warning("too many tries from %s: %s", client, error, extra={"event": "too_many_tries", "client": client})
    minutes = -(-error.retry_after_seconds // 60)
    response = page(request, "too_many", {"minutes": minutes}, status=429)
    response.headers["Retry-After"] = str(error.retry_after_seconds)
    return response


def next_address(request: HttpRequest) -> str:
    """Return where the browser wanted to go before it was asked to sign in, if that is here; else the editor."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    hosts = {request.get_host()}
    if url_has_allowed_host_and_scheme(wanted, allowed_hosts=hosts, require_https=request.is_secure()):
        return wanted
    return settings.LOGIN_REDIRECT_URL


def sign_in(request: HttpRequest, author: Author, *, now: datetime, is_let_off: bool = False) -> None:
    """Start a session of the author, under a new key."""
    login(request, author)
    if is_let_off:
        request.session[_LET_OFF_UNTIL] = (now + LET_OFF_FOR).isoformat()


def is_let_off(request: HttpRequest) -> bool:
    """Tell whether the author has signed in by link or code a moment ago."""
    until = request.session.get(_LET_OFF_UNTIL)
    return until is not None and timezone.now() < datetime.fromisoformat(until)


def end_let_off(request: HttpRequest) -> None:
    request.session.pop(_LET_OFF_UNTIL, None)
