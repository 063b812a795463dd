"""`/indieauth/userinfo`: IndieAuth section 9."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vernier.indieauth.profile import profile
from vernier.indieauth.rate_limit import guesses_limited
from vernier.indieauth.views import endpoint, private_json
from vernier.media_api.authentication import authenticate
from vernier.media_api.errors import ApiError, insufficient_scope
from vernier.media_api.links import base_url

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

SCOPE = "profile"


@endpoint("GET", "HEAD")
def userinfo(request: HttpRequest) -> HttpResponse:
    """Answer with the profile as it is now."""
    with guesses_limited(request):
        token = authenticate(request.headers.get("Authorization"))
    if SCOPE not in token.scopes:
        raise _forbidden()
    return private_json(profile(base_url(request), token.author, token.scopes))


def _forbidden() -> ApiError:
    """403, as IndieAuth section 8.1 has it; the 401 of Micropub is for Micropub's endpoints."""
    error = insufficient_scope(SCOPE)
    return ApiError(403, error.code, error.description, headers=error.headers)
