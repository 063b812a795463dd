"""What the views of this app have in common."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate

from django.views.decorators.csrf import csrf_exempt

from vernier.media_api.cors import allow_scripts, preflight
from vernier.media_api.errors import ApiError, method_not_allowed

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from django.http import HttpRequest, HttpResponse

type View[**P] = Callable[Concatenate[HttpRequest, P], Coroutine[Any, Any, HttpResponse]]


def api_view[**P](*methods: str) -> Callable[[View[P]], View[P]]:
    """Make an asynchronous view that answers JSON to other methods and to an ApiError, and OPTIONS by itself.

    It is exempt from the CSRF check, which answers HTML: what changes anything here takes a token, not a cookie.
    """

    def decorate(view: View[P]) -> View[P]:
        async def answer(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            if request.method == "OPTIONS":
                return preflight(methods)
            try:
                if request.method not in methods:
                    raise method_not_allowed(request.method or "", ", ".join((*methods, "OPTIONS")))
                response = await view(request, *args, **kwargs)
            except ApiError as error:
                response = error.response()
            return allow_scripts(response)

        return csrf_exempt(wraps(view)(answer))  # type: ignore[return-value]

    return decorate
