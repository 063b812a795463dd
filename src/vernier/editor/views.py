"""What the views of the editor have in common."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Concatenate, cast

from django.contrib.auth.decorators import login_required
from django.db import OperationalError
from django.utils.cache import patch_cache_control

from vernier.editor.uploads import refuse, signed_out, wants_json
from vernier.media_api.errors import ApiError
from vernier.media_api.refusals import refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

    from vernier.authors.models import Author

type View[**P] = Callable[Concatenate[HttpRequest, P], HttpResponse]


def editor_view[**P](*, keeps_posts: bool = False) -> Callable[[View[P]], View[P]]:
    """Make a view for authors who have signed in; others are sent to sign in, or told so in JSON.

    With `keeps_posts` the view itself answers a form of somebody who was signed out meanwhile.
    """

    def decorate(view: View[P]) -> View[P]:
        signed_in = login_required(view)

        @wraps(view)
        def answer(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            is_kept = keeps_posts and request.method == "POST"
            try:
                if wants_json(request) and not request.user.is_authenticated:
                    response: HttpResponse = signed_out().response()
                else:
                    response = (view if is_kept else signed_in)(request, *args, **kwargs)
            except ApiError as error:
                response = refuse(request, error)
            except OperationalError as error:
                response = refuse(request, refusal(error))
            # Asked again each time, but kept for the way back: browsers then keep what was typed.
            patch_cache_control(response, private=True, no_cache=True)
            return response

        return cast("View[P]", answer)

    return decorate


def author_of(request: HttpRequest) -> Author:
    """Return who has signed in."""
    return cast("Author", request.user)
