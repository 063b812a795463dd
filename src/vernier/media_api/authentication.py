"""Bearer tokens in the Authorization header (RFC 6750 section 2.1)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vernier.authors.models import AccessToken, find_token, touch_token
from vernier.media_api.errors import insufficient_scope, invalid_token, unauthorized

if TYPE_CHECKING:
    from collections.abc import Sequence

# RFC 6750 section 2.1, b64token. A token of ours has 51 characters; what is longer than this is not looked up.
_TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]{1,512}=*")


def authenticate(authorization: str | None, *, scopes: Sequence[str] = ()) -> AccessToken:
    """Return the token that the header carries; raise ApiError unless it is valid and has one of `scopes`.

    Without `scopes` any valid token will do.
    """
    secret = bearer_secret(authorization)
    if secret is None:
        raise unauthorized()
    token = find_token(secret) if _TOKEN.fullmatch(secret) else None
    if token is None:
        raise invalid_token()
    if scopes and token.scopes.isdisjoint(scopes):
        raise insufficient_scope(scopes[0])
    touch_token(token)
    return token


def bearer_secret(authorization: str | None) -> str | None:
    """Return what follows the scheme; None for another one, which may be for a server in front of this one."""
    scheme, _, secret = (authorization or "").strip(" \t").partition(" ")
    return secret.strip(" \t") if scheme.lower() == "bearer" else None
