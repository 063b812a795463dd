"""Bodies that Django has in memory, read strictly: what is no form or no JSON becomes an ApiError, never a 500."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from django.core.exceptions import RequestDataTooBig

from vernier.media_api.errors import ApiError, invalid_request
from vernier.media_api.form_intake import PARTS_MAX
from vernier.media_api.multipart import shown
from vernier.media_api.received import SCOPE_KEY, received_form

if TYPE_CHECKING:
    from django.http import HttpRequest

    from vernier.media_api.received import ReceivedFile

URL_ENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
JSON = "application/json"
# No object that people make is as deep; the database refuses what is very much deeper.
DEPTH_MAX = 32
_JSON_NAMES = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}


def form_fields(request: HttpRequest) -> tuple[tuple[str, str | ReceivedFile], ...]:
    """Return the fields of a form in the order of the body."""
    if SCOPE_KEY in getattr(request, "scope", {}) or request.content_type != URL_ENCODED:
        return received_form(request).fields
    return _url_encoded_fields(body_of(request))


def json_object(request: HttpRequest) -> dict[str, Any]:
    """Return the JSON object that is the body."""
    try:
        value = json.loads(
            body_of(request).decode(),
            object_pairs_hook=_object,
            parse_float=_finite,
            parse_constant=_refuse_constant,
        )
    except UnicodeDecodeError as error:
        raise invalid_request("The body is not in UTF-8.") from error
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:
        raise invalid_request(f"The body is not valid JSON: {error}.") from error
    if not isinstance(value, dict):
        raise invalid_request(f"The body is {describe(value)}; valid is a JSON object.")
    _check_parts(value)
    return value


def body_of(request: HttpRequest) -> bytes:
    try:
        return request.body
    except RequestDataTooBig as error:
        raise ApiError(413, "too_large", "The body is larger than a form or JSON may be.") from error


def describe(value: object) -> str:
    """Return what kind of JSON value it is, for a sentence."""
    return _JSON_NAMES.get(type(value), "a number")


def quoted(text: str) -> str:
    """Return a text of the client's for a sentence: bounded, and nothing in it that a log or terminal acts on."""
    return f"“{shown(text.encode(errors='replace'))}”"


def _url_encoded_fields(body: bytes) -> tuple[tuple[str, str], ...]:
    try:
        fields = tuple(parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=PARTS_MAX))
    except UnicodeDecodeError as error:
        raise invalid_request("The body is not in UTF-8.") from error
    except ValueError as error:
        raise invalid_request(f"The form has more than {PARTS_MAX} fields, the most that is accepted.") from error
    if any("\0" in text for field in fields for text in field):
        raise invalid_request("A field has a NUL in it, which is no text.")
    return fields


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that comes twice: which of the two is meant cannot be known."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("an object has the same name twice")
    return made


def _finite(text: str) -> float:
    """Refuse what would be infinite: it could not be written as JSON again."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _check_parts(value: Any) -> None:  # noqa: ANN401 - any JSON
    """Raise ApiError for what is nested too deeply or is no text to a database; JSON can carry both."""
    waiting = [(value, 1)]
    while waiting:
        part, depth = waiting.pop()
        if depth > DEPTH_MAX:
            raise _too_deep()
        if isinstance(part, dict):
            waiting += [(name, depth) for name in part] + [(inner, depth + 1) for inner in part.values()]
        elif isinstance(part, list):
            waiting += [(inner, depth + 1) for inner in part]
        elif isinstance(part, str) and not _is_text(part):
            raise invalid_request("A text has a NUL character or half of a surrogate pair in it.")


def _is_text(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _too_deep() -> ApiError:
    return invalid_request(f"The JSON is nested deeper than {DEPTH_MAX} levels.")
