"""What the endpoints for programs have in common."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

from asgiref.sync import sync_to_async
from django.http import JsonResponse

from vernier.media_api.errors import ApiError
from vernier.media_api.views import api_view

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from typing import Any

    from django.http import HttpRequest, HttpResponse

type Endpoint = Callable[[HttpRequest], HttpResponse]


def endpoint(*methods: str) -> Callable[[Endpoint], Callable[[HttpRequest], Coroutine[Any, Any, HttpResponse]]]:
    """Make a view of a synchronous function: JSON for errors, open to scripts of other sites, without CSRF check."""

    def decorate(view: Endpoint) -> Callable[[HttpRequest], Coroutine[Any, Any, HttpResponse]]:
        @wraps(view)
        async def answer(request: HttpRequest) -> HttpResponse:
            return await sync_to_async(view)(request)

        return api_view(*methods)(answer)

    return decorate


def private_json(content: Mapping[str, object]) -> JsonResponse:
    """Return an answer that no cache keeps: RFC 6749 section 5.1."""
    return JsonResponse(dict(content), headers={"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"})


def oauth_error(code: str, error: Exception) -> ApiError:
    """Return the answer with one of the codes of RFC 6749 section 5.2."""
    return ApiError(400, code, str(error))
