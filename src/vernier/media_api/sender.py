"""Who sends a request: the bearer token in its header, or in its form (RFC 6750 sections 2.1 and 2.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vernier.media_api.authentication import authenticate, bearer_secret
from vernier.media_api.conf import media_api_settings
from vernier.media_api.errors import CHALLENGE, ApiError, invalid_request

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.http import JsonResponse

    from vernier.authors.models import AccessToken

TOKEN_FIELD = "access_token"  # noqa: S105 - the name of a field


class TokenTwice(ApiError):  # noqa: N818 - it names what happened
    """A token both in the header and in the body; the body of this answer is empty.

    RFC 6750 and the test suite of Micropub disagree on the error code in it, and on nothing else.
    """

    def __init__(self) -> None:
        description = "The access token is in the header and in the body; valid is one of them."
        challenge = f'{CHALLENGE}, error="invalid_request"'
        super().__init__(400, "invalid_request", description, headers={"WWW-Authenticate": challenge})

    def response(self) -> JsonResponse:
        response = super().response()
        response.content = b""
        del response.headers["Content-Type"]
        return response


def find_sender(
    authorization: str | None, form_tokens: Sequence[str] = (), *, scopes: Sequence[str] = ()
) -> AccessToken:
    """Return the valid token that the header or the form carries; raises as `authenticate` and `one_token` do."""
    token = one_token(authorization, form_tokens)
    return authenticate(f"Bearer {token}" if token else authorization, scopes=scopes)


def one_token(authorization: str | None, form_tokens: Sequence[str]) -> str:
    """Return the token that the header or the form carries, valid or not, or nothing; raise ApiError for two.

    The same one in both places is accepted, as clients send it, unless the settings are strict.
    """
    secret = bearer_secret(authorization)
    given = [secret, *form_tokens] if secret else list(form_tokens)
    if len(set(given)) > 1:
        raise invalid_request("The request has two different access tokens; valid is one.")
    if len(given) > 1 and media_api_settings().strict:
        raise TokenTwice
    return given[0] if given else ""


def has_token(authorization: str | None, form_tokens: Sequence[str] = ()) -> bool:
    """Tell whether the request carries any credentials."""
    return bool(bearer_secret(authorization) or form_tokens)


def form_tokens(fields: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    """Return the tokens in the fields of a form; an empty field is none."""
    return tuple(value for name, value in fields if name == TOKEN_FIELD and isinstance(value, str) and value)
