"""The pages for what is not there, what is not allowed and what went wrong; Django's handlers among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.template.loader import render_to_string

from vernier.pages.conf import pages_settings

if TYPE_CHECKING:
    from django.http import HttpRequest

# What is not there now may be there in a moment.
_HEADERS = {"Cache-Control": "no-store"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A status code and the words for it."""

    status: int
    title: str
    text: str


BAD_REQUEST = Problem(status=400, title="Bad request", text="The server could not make sense of this request.")
FORBIDDEN = Problem(status=403, title="Not allowed", text="You may not do this, or not without signing in.")
NOT_FOUND = Problem(status=404, title="Not found", text="There is nothing at this address.")
GONE = Problem(status=410, title="Gone", text="This post was deleted by its author.")
SERVER_ERROR = Problem(
    status=500, title="Server error", text="The server could not answer this request. Please try again later."
)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - Django's signature
    return plain_error_page(BAD_REQUEST)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - Django's signature
    return error_page(request, FORBIDDEN)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - Django's signature
    return error_page(request, NOT_FOUND)


def server_error(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 - Django's signature
    return plain_error_page(SERVER_ERROR)


def error_page(request: HttpRequest, problem: Problem) -> HttpResponse:
    """Return the page, with the site's navigation as this reader has it."""
    content = render_to_string("vernier/pages/error.html", {"problem": problem}, request)
    return HttpResponse(content, status=problem.status, headers=_HEADERS)


def plain_error_page(problem: Problem) -> HttpResponse:
    """Return the page without looking at the request or the database: either may be what is wrong."""
    conf = pages_settings()
    site = {"title": conf.title, "language": conf.language}
    content = render_to_string("vernier/pages/error.html", {"problem": problem, "site": site})
    return HttpResponse(content, status=problem.status, headers=_HEADERS)
