"""`/login/mail` and `/login/code`: a code is mailed, and signs in the browser that has asked for it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.http import Http404, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from vernier.authors.client_address import client_address
from vernier.authors.forms import AskCodeForm, CodeForm
from vernier.authors.limits import (
    ASKED_FOR_ACCOUNT,
    ASKED_FOR_ACCOUNT_DAILY,
    ASKED_FROM_ADDRESS,
    CODE_FROM_ADDRESS,
    TooManyTries,
    count_tries,
    give_tries_back,
)
from vernier.authors.sign_in_code import ask_for_code, check_code
from vernier.authors.views.common import next_address, page, sign_in, too_many_tries
from vernier.mail.conf import mail_settings

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

_SECRET = "sign_in_code"  # noqa: S105 - the name under which the session has it
_WRONG = "This code is not right, or not valid any more. After five tries, ask for a new one."


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def ask_code(request: HttpRequest) -> HttpResponse:
    """Have a code mailed. Every name gets the same answer."""
    _require_mail()
    form = AskCodeForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return page(request, "ask_code", {"form": form, "next": next_address(request)})
    now, name = timezone.now(), form.cleaned_data["name"]
    tries = (
        (ASKED_FROM_ADDRESS, client_address(request)),
        (ASKED_FOR_ACCOUNT, name),
        (ASKED_FOR_ACCOUNT_DAILY, name),
    )
    try:
        count_tries(tries, now=now)
    except TooManyTries as error:
        return too_many_tries(request, error)
    request.session[_SECRET] = ask_for_code(name, now=now)
    return HttpResponseRedirect(f"{reverse('authors:code')}?{urlencode({'next': next_address(request)})}")


@never_cache
@sensitive_post_parameters("code")
@require_http_methods(["GET", "HEAD", "POST"])
def enter_code(request: HttpRequest) -> HttpResponse:
    """Sign in by the code that was mailed."""
    _require_mail()
    form = CodeForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return _page(request, form)
    now, tries = timezone.now(), ((CODE_FROM_ADDRESS, client_address(request)),)
    try:
        count_tries(tries, now=now)
    except TooManyTries as error:
        return too_many_tries(request, error)
    author = check_code(request.session.get(_SECRET, ""), form.cleaned_data["code"], now=now)
    if author is None:
        form.add_error("code", _WRONG)
        return _page(request, form)
    give_tries_back(tries, now=now)
    target = next_address(request)
    del request.session[_SECRET]
    sign_in(request, author, now=now, is_let_off=True)
    return HttpResponseRedirect(target)


def _require_mail() -> None:
    if not mail_settings().enabled:
        raise Http404


def _page(request: HttpRequest, form: CodeForm) -> HttpResponse:
    return page(request, "code", {"form": form, "next": next_address(request)})
