"""`/indieauth/introspect`: IndieAuth section 6, RFC 7662."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vernier.authors.models import find_token
from vernier.indieauth.parameters import form, needed
from vernier.indieauth.profile import me_url
from vernier.indieauth.rate_limit import guesses_limited
from vernier.indieauth.views import endpoint, private_json
from vernier.media_api.authentication import authenticate
from vernier.media_api.links import base_url

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from vernier.authors.models import AccessToken


@endpoint("POST")
def introspect(request: HttpRequest) -> HttpResponse:
    """Describe a token to whoever has one of the same author, be it the same; any other is inactive to them."""
    with guesses_limited(request):
        asker = authenticate(request.headers.get("Authorization"))
    token = find_token(needed(form(request), "token"))
    if token is None or token.author_id != asker.author_id:
        return private_json({"active": False})
    return private_json(_description(base_url(request), token))


def _description(base: str, token: AccessToken) -> dict[str, object]:
    ends = {"exp": int(token.expires_at.timestamp())} if token.expires_at else {}
    return {
        "active": True,
        "me": me_url(base, token.author),
        "client_id": token.client_id,
        "scope": token.scope,
        "iat": int(token.created_at.timestamp()),
        **ends,
    }
