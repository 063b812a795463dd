"""The parameters of a request to an endpoint that programs use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http.multipartparser import MultiPartParserError

from vernier.media_api.errors import invalid_request

if TYPE_CHECKING:
    from django.http import HttpRequest, QueryDict


def form(request: HttpRequest) -> QueryDict:
    """Return the form in the body; raise ApiError for one that cannot be read."""
    try:
        return request.POST
    except (BadRequest, SuspiciousOperation, MultiPartParserError) as error:
        raise invalid_request("The body is no form; valid is application/x-www-form-urlencoded in UTF-8.") from error


def needed(parameters: QueryDict, name: str) -> str:
    """Return the one value of a parameter; raise ApiError where it is missing, empty or there twice."""
    value = optional(parameters, name)
    if value is None:
        raise invalid_request(f"The parameter {name} is missing.")
    return value


def optional(parameters: QueryDict, name: str) -> str | None:
    """Return the one value; an empty one counts as not sent (RFC 6749 section 3.2)."""
    values = parameters.getlist(name)
    if len(values) > 1:
        raise invalid_request(f"The parameter {name} is there more than once.")
    return str(values[0]) if values and values[0] else None
