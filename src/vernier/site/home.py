"""The front page, and the plain pages for what is not there and what went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.utils.html import format_html
from django.views.decorators.http import require_safe

if TYPE_CHECKING:
    from django.http import HttpRequest

_PAGE = (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    "<title>{}</title>\n</head>\n<body>\n<h1>{}</h1>\n<p>{}</p>\n</body>\n</html>\n"
)


@require_safe
def home(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 - Django's signature
    return _page("Vernier", "Vernier is running.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - Django's signature
    return _page("Not found", "There is nothing at this address.", status=404)


def server_error(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 - Django's signature
    return _page("Server error", "The server could not answer this request.", status=500)


def _page(title: str, text: str, *, status: int = 200) -> HttpResponse:
    return HttpResponse(format_html(_PAGE, title, title, text), status=status)
