"""Answers that say what was wrong: JSON with `error` and `error_description`, as Micropub and OAuth 2 write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import JsonResponse

if TYPE_CHECKING:
    from collections.abc import Mapping

# RFC 6750 section 3: a challenge carries at least one parameter.
CHALLENGE = 'Bearer realm="vernier"'


class ApiError(Exception):
    """An answer other than the one that was asked for; `code` is absent where RFC 6750 wants none."""

    def __init__(
        self, status: int, code: str | None, description: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(description)
        self.status = status
        self.code = code
        self.description = description
        self.headers = dict(headers or {})

    def response(self) -> JsonResponse:
        """Return the answer, which no cache keeps."""
        body = {"error": self.code} if self.code else {}
        headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", **self.headers}
        content = {**body, "error_description": self.description}
        # Read by people too, in a terminal: the sentences stay as they are.
        readable = {"ensure_ascii": False}
        return JsonResponse(content, status=self.status, headers=headers, json_dumps_params=readable)


def invalid_request(description: str) -> ApiError:
    return ApiError(400, "invalid_request", description)


def unauthorized() -> ApiError:
    """RFC 6750 section 3.1: a request without credentials is told no error code."""
    description = "This needs an access token: send it as “Authorization: Bearer <token>”."
    return ApiError(401, None, description, headers={"WWW-Authenticate": CHALLENGE})


def invalid_token() -> ApiError:
    return _challenge("invalid_token", "The access token is unknown, expired, revoked or malformed.")


def insufficient_scope(scope: str) -> ApiError:
    """401 and not 403: the choice of the W3C Recommendation Micropub, section 3.8."""
    return _challenge("insufficient_scope", f"The access token lacks the scope “{scope}”.", f', scope="{scope}"')


def not_found() -> ApiError:
    return ApiError(404, "not_found", "There is nothing at this address, or not yet.")


def method_not_allowed(method: str, allowed: str) -> ApiError:
    received = method if method.isascii() and method.isalpha() else "this method"
    return ApiError(
        405,
        "method_not_allowed",
        f"{received} is not valid here; valid: {allowed}.",
        headers={"Allow": allowed},
    )


def _challenge(code: str, description: str, more: str = "") -> ApiError:
    challenge = f'{CHALLENGE}, error="{code}"{more}'
    return ApiError(401, code, description, headers={"WWW-Authenticate": challenge})
