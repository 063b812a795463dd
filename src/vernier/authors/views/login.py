"""`/login` and `/logout`: user name and password, and the end of the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import logout as end_session
from django.http import HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from vernier.authors.client_address import client_address
from vernier.authors.forms import LoginForm
from vernier.authors.limits import (
    PASSWORD_FROM_ADDRESS,
    PASSWORD_OF_ACCOUNT,
    TooManyTries,
    count_tries,
    give_tries_back,
)
from vernier.authors.views.common import next_address, page, sign_in, too_many_tries
from vernier.mail.conf import mail_settings

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def login(request: HttpRequest) -> HttpResponse:
    """Sign in by user name and password; 429 after too many failures for the account or from the address."""
    if request.method == "POST":
        return _try_password(request)
    if request.user.is_authenticated:
        return HttpResponseRedirect(next_address(request))
    return _page(request, LoginForm(request))


@never_cache
@require_POST
def logout(request: HttpRequest) -> HttpResponse:
    """End the session, on this browser only."""
    end_session(request)
    return HttpResponseRedirect("/")


def _try_password(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    tries = (
        (PASSWORD_FROM_ADDRESS, client_address(request)),
        (PASSWORD_OF_ACCOUNT, request.POST.get("username", "")),
    )
    try:
        count_tries(tries, now=now)
    except TooManyTries as error:
        return too_many_tries(request, error)
    form = LoginForm(request, request.POST)
    if not form.is_valid():
        return _page(request, form)
    give_tries_back(tries, now=now)
    target = next_address(request)
    sign_in(request, form.get_user(), now=now)
    return HttpResponseRedirect(target)


def _page(request: HttpRequest, form: LoginForm) -> HttpResponse:
    context = {"form": form, "next": next_address(request), "has_mail": mail_settings().enabled}
    return page(request, "login", context)
