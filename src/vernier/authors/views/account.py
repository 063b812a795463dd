"""`/account`: the author's profile, e-mail address and password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.http import HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from vernier.authors.forms import EmailForm, ProfileForm, password_form
from vernier.authors.limits import PASSWORD_OF_ACCOUNT, TooManyTries, count_tries, give_tries_back
from vernier.authors.models import Author
from vernier.authors.views.common import end_let_off, is_let_off, page, too_many_tries

if TYPE_CHECKING:
    from django.forms import BaseForm
    from django.http import HttpRequest, HttpResponse, QueryDict


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Show and change the profile."""
    author = _author(request)
    form = ProfileForm(_data(request), instance=author)
    if not form.is_valid():
        return page(request, "account", {"form": form})
    form.save_profile()
    messages.success(request, "Your profile is saved.")
    return redirect("authors:account")


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def email(request: HttpRequest) -> HttpResponse:
    """Change the address to which codes and notices go."""
    author = _author(request)
    form = EmailForm(_data(request), instance=author)
    try:
        is_valid = _is_valid(form, author, password="password")  # noqa: S106 - the field's name
    except TooManyTries as error:
        return too_many_tries(request, error)
    if not is_valid:
        return page(request, "email", {"form": form})
    form.save_email()
    messages.success(request, "Your e-mail address is saved.")
    return redirect("authors:account")


@never_cache
@sensitive_post_parameters("old_password", "new_password1", "new_password2")
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def password(request: HttpRequest) -> HttpResponse:
    """Set a password, or change it; every other session of the author ends."""
    author, let_off = _author(request), is_let_off(request)
    form = password_form(author, _data(request), is_let_off=let_off)
    try:
        is_valid = _is_valid(form, author, password="old_password")  # noqa: S106 - the field's name
    except TooManyTries as error:
        return too_many_tries(request, error)
    if not is_valid:
        return page(request, "password", {"form": form, "is_let_off": let_off, "skip": settings.LOGIN_REDIRECT_URL})
    form.save()
    update_session_auth_hash(request, author)
    end_let_off(request)
    messages.success(request, "Your password is saved.")
    return HttpResponseRedirect(settings.LOGIN_REDIRECT_URL) if let_off else redirect("authors:account")


def _author(request: HttpRequest) -> Author:
    """Return the row of who is signed in, apart from what the page shows of them: a form writes into it."""
    return get_object_or_404(Author, username=request.user.get_username())


def _data(request: HttpRequest) -> QueryDict | None:
    return request.POST if request.method == "POST" else None


def _is_valid(form: BaseForm, author: Author, *, password: str) -> bool:
    """Tell whether the form may be carried out; raise TooManyTries.

    One that asks for the password is a try to guess it: a session that somebody has left open opens nothing more.
    """
    if not form.is_bound:
        return False
    now, asks = timezone.now(), password in form.fields
    tries = ((PASSWORD_OF_ACCOUNT, author.get_username()),) if asks else ()
    count_tries(tries, now=now)
    is_valid = form.is_valid()
    if password not in form.errors:
        give_tries_back(tries, now=now)
    return is_valid
