"""The operator's list of authors, and the way into the admin, which is that into the site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse

from vernier.authors.models import Author

if TYPE_CHECKING:
    from django.http import HttpResponse


@admin.register(Author)
class AuthorAdmin(UserAdmin):  # type: ignore[type-arg]
    list_display = ("username", "display_name", "email", "is_active", "is_superuser", "last_login")
    raw_id_fields = ("photo",)
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Profile", {"fields": ("display_name", "email", "note", "photo")}),
        ("Rights", {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
        ("Times", {"fields": ("last_login", "date_joined")}),
    )


def sign_in(request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:  # noqa: ARG001 - Django's signature
    """Send whoever is not signed in to the site's own page, which counts tries; refuse whoever is and may not."""
    if request.user.is_authenticated:
        raise PermissionDenied("Only the operator of the site may use these pages.")
    wanted = request.GET.get("next") or reverse("admin:index")
    return HttpResponseRedirect(f"{reverse('authors:login')}?{urlencode({'next': wanted})}")


admin.site.login = sign_in  # type: ignore[method-assign]
