"""The answer to a form that fails the check of its origin (CSRF)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vernier.editor.post_edit import form_again
from vernier.editor.uploads import refuse
from vernier.media_api.errors import ApiError

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

_REASON = "This page was open for too long, or cookies are blocked. Go back, load it again, and repeat what you did."
_POST_FORMS = {"editor:new", "editor:post"}


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001 - Django's signature
    """Show a post's form again with its text, for its author has signed in anew meanwhile; refuse any other form."""
    match = request.resolver_match
    if match is not None and match.view_name in _POST_FORMS:
        return form_again(request)
    return refuse(request, ApiError(403, "csrf_failed", _REASON))
