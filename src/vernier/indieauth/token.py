"""`/indieauth/token`: codes and refresh tokens for access tokens, and two older uses of the same address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone

from vernier.indieauth.codes import Redemption, redeem_for_tokens
from vernier.indieauth.exceptions import InvalidGrant, InvalidIdentifier, InvalidScope
from vernier.indieauth.grants import refresh
from vernier.indieauth.identifiers import canonical, parse_client_id
from vernier.indieauth.parameters import form, needed, optional
from vernier.indieauth.profile import identity, me_url
from vernier.indieauth.rate_limit import guesses_limited
from vernier.indieauth.revoke import revoke_named
from vernier.indieauth.views import endpoint, oauth_error, private_json
from vernier.media_api.authentication import authenticate
from vernier.media_api.errors import ApiError, invalid_request
from vernier.media_api.links import base_url

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse, QueryDict

    from vernier.indieauth.grants import Issued


@endpoint("GET", "HEAD", "POST")
def token(request: HttpRequest) -> HttpResponse:
    """Grant; verify a token, or revoke one, as was done here before there were endpoints for it."""
    parameters = form(request)
    if parameters.get("action") == "revoke":
        return revoke_named(request, parameters)
    with guesses_limited(request):
        return _grant(request, parameters) if request.method == "POST" else _verify(request)


def read_redemption(parameters: QueryDict) -> Redemption:
    """Return what is sent to redeem a code; raise ApiError for what is missing."""
    return Redemption(
        code=needed(parameters, "code"),
        client_id=read_client_id(parameters),
        redirect_uri=canonical(needed(parameters, "redirect_uri")),
        code_verifier=optional(parameters, "code_verifier"),
    )


def read_client_id(parameters: QueryDict) -> str:
    try:
        return parse_client_id(needed(parameters, "client_id"))
    except InvalidIdentifier as error:
        raise invalid_request(str(error)) from error


def _grant(request: HttpRequest, parameters: QueryDict) -> HttpResponse:
    """Answer a token request: IndieAuth sections 5.3 and 5.5."""
    grant_type = needed(parameters, "grant_type")
    try:
        if grant_type == "authorization_code":
            issued = redeem_for_tokens(read_redemption(parameters), now=timezone.now())
        elif grant_type == "refresh_token":
            issued = _refresh(parameters)
        else:
            description = "The grant_type is not supported; valid are authorization_code and refresh_token."
            raise ApiError(400, "unsupported_grant_type", description)
    except InvalidGrant as error:
        raise oauth_error("invalid_grant", error) from error
    except InvalidScope as error:
        raise oauth_error("invalid_scope", error) from error
    return private_json(_token_response(base_url(request), issued))


def _refresh(parameters: QueryDict) -> Issued:
    return refresh(
        needed(parameters, "refresh_token"),
        client_id=read_client_id(parameters),
        scope=optional(parameters, "scope"),
        now=timezone.now(),
    )


def _token_response(base: str, issued: Issued) -> dict[str, object]:
    return {
        "access_token": issued.access_token,
        "token_type": "Bearer",
        "scope": issued.scope,
        "expires_in": issued.expires_in_seconds,
        "refresh_token": issued.refresh_token,
        **identity(base, issued.grant.author, issued.scope.split()),
    }


def _verify(request: HttpRequest) -> HttpResponse:
    """Say whose a token is: how resource servers asked before there was introspection."""
    found = authenticate(request.headers.get("Authorization"))
    me = me_url(base_url(request), found.author)
    return private_json({"me": me, "client_id": found.client_id, "scope": found.scope})
