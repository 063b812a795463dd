"""What a client asks for at the authorization endpoint: RFC 6749 section 4.1.1, with the changes of IndieAuth."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vernier.indieauth.exceptions import InvalidIdentifier, RequestRefused
from vernier.indieauth.identifiers import parse_client_id, parse_redirect_uri
from vernier.indieauth.scopes import parse_scope

if TYPE_CHECKING:
    from django.http import QueryDict

    from vernier.indieauth.scopes import Requested

# Through the sign-in page comes no longer URL: Django's check of `next` ends there.
REQUEST_CHARACTERS_MAX = 2048
# RFC 7636 section 4.2.
_CHALLENGE = re.compile(r"[A-Za-z0-9\-._~]{43,128}")
_PARAMETERS = ("response_type", "state", "scope", "code_challenge", "code_challenge_method")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationRequest:
    """A request with its client and where that waits; `error` is what the client is told instead of a code."""

    client_id: str
    redirect_uri: str
    # Absent, and not echoed, for clients older than its requirement.
    state: str | None
    scope: Requested
    code_challenge: str
    error: tuple[str, str] | None


def parse_request(query: QueryDict) -> AuthorizationRequest:
    """Return the request; raise RequestRefused where there is nobody to redirect to."""
    try:
        client_id = parse_client_id(_needed(query, "client_id"))
        redirect_uri = parse_redirect_uri(_needed(query, "redirect_uri"))
    except InvalidIdentifier as error:
        raise RequestRefused(str(error)) from error
    return AuthorizationRequest(
        client_id=client_id,
        redirect_uri=redirect_uri,
        state=query.get("state"),
        scope=parse_scope(query.get("scope", "")),
        code_challenge=query.get("code_challenge", ""),
        error=_error(query),
    )


def _needed(query: QueryDict, name: str) -> str:
    values = query.getlist(name)
    if len(values) != 1 or not values[0]:
        raise RequestRefused(f"The request has {'no' if not any(values) else 'more than one'} {name}.")
    return str(values[0])


def _error(query: QueryDict) -> tuple[str, str] | None:
    """Return code and description of what is wrong with the rest: RFC 6749 section 4.1.2.1."""
    for name in _PARAMETERS:
        if len(query.getlist(name)) > 1:
            return "invalid_request", f"The parameter {name} is there more than once."
    if not query.get("response_type"):
        return "invalid_request", "The parameter response_type is missing; valid is code."
    if query["response_type"] != "code":
        return "unsupported_response_type", "The response_type is not supported; valid is code."
    return _challenge_error(query)


def _challenge_error(query: QueryDict) -> tuple[str, str] | None:
    """PKCE may be left out whole, by clients older than it; half of it, or `plain`, is a mistake (RFC 7636)."""
    challenge, method = query.get("code_challenge"), query.get("code_challenge_method")
    if challenge is None and method is None:
        return None
    if method != "S256":
        return "invalid_request", "The code_challenge_method is not supported; valid is S256."
    if not _CHALLENGE.fullmatch(challenge or ""):
        return "invalid_request", "The code_challenge is not valid: it has 43 to 128 letters, digits and - . _ ~."
    return None
