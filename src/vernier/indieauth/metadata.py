"""`/indieauth/metadata` and `/.well-known/oauth-authorization-server`: IndieAuth section 4.1.1, RFC 8414."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import JsonResponse

from vernier.authors.models import SCOPES
from vernier.indieauth.discovery import (
    AUTHORIZATION_PATH,
    INTROSPECTION_PATH,
    REVOCATION_PATH,
    TOKEN_PATH,
    USERINFO_PATH,
    issuer,
)
from vernier.indieauth.views import endpoint
from vernier.media_api.links import base_url

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

# It changes with the address of the site or the version of the software only.
_MAX_AGE_SECONDS = 3600


@endpoint("GET", "HEAD")
def metadata(request: HttpRequest) -> HttpResponse:
    """Say where the endpoints are and what they can do."""
    base = base_url(request)
    content = {
        "issuer": issuer(base),
        "authorization_endpoint": base + AUTHORIZATION_PATH,
        "token_endpoint": base + TOKEN_PATH,
        "introspection_endpoint": base + INTROSPECTION_PATH,
        "introspection_endpoint_auth_methods_supported": ["Bearer"],
        "revocation_endpoint": base + REVOCATION_PATH,
        "revocation_endpoint_auth_methods_supported": ["none"],
        "userinfo_endpoint": base + USERINFO_PATH,
        "token_endpoint_auth_methods_supported": ["none"],
        "scopes_supported": list(SCOPES),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
    }
    return JsonResponse(content, headers={"Cache-Control": f"max-age={_MAX_AGE_SECONDS}"})
