"""A multipart/form-data body (RFC 7578) as it arrives, of which the one part named `file` is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from vernier.media_api.errors import invalid_request

if TYPE_CHECKING:
    from collections.abc import Callable

FILE_PART = "file"
# Clients send the file alone or with a few words about it; what they say is ignored, but only up to here.
PARTS_MAX = 20
FIELD_BYTES_MAX = 64 * 1024
# A part has two or three header lines; a file name in one of them may be long, and is ignored.
HEADERS_MAX = 8
HEADER_BYTES_MAX = 16 * 1024
# How much longer than the file a body may be: the fields, and the headers and boundaries of every part.
FRAMING_BYTES_MAX = 256 * 1024
# So much of a name is repeated to the client.
_SHOWN_CHARACTERS_MAX = 64


def is_multipart(content_type: str) -> bool:
    """Tell whether the Content-Type is one of those that are made of parts: RFC 2046 section 5.1."""
    media_type, _ = parse_options_header(content_type)
    return media_type.startswith(b"multipart/")


def boundary_of(content_type: str) -> bytes:
    """Return the boundary that the Content-Type names; raise ApiError where the body is no form with one."""
    media_type, parameters = parse_options_header(content_type)
    if media_type != b"multipart/form-data":
        raise invalid_request(
            f"The body is {_shown(media_type) or 'of no declared type'}; valid is multipart/form-data with the"
            f" file in a part named “{FILE_PART}”."
        )
    boundary = parameters.get(b"boundary", b"")
    if not boundary:
        raise invalid_request("The Content-Type multipart/form-data lacks its boundary parameter.")
    return boundary


class FormReader:
    """Takes the body piece by piece and hands the bytes of the part named `file` to `on_file`.

    Every method raises ApiError for a body that is no such form, and whatever `on_file` raises.
    """

    def __init__(self, boundary: bytes, *, on_file: Callable[[bytes], None]) -> None:
        self._on_file = on_file
        self._parts = 0
        self._field_bytes = 0
        self._other_names: list[str] = []
        self._is_file = False
        self._has_file = False
        self._is_complete = False
        self._header_name = b""
        self._header_value = b""
        self._disposition = b""
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin_part,
                    "on_header_field": self._take_header_name,
                    "on_header_value": self._take_header_value,
                    "on_header_end": self._end_header,
                    "on_headers_finished": self._end_headers,
                    "on_part_data": self._take_data,
                    "on_end": self._end,
                },
                max_header_count=HEADERS_MAX,
                max_header_size=HEADER_BYTES_MAX,
            )
        except FormParserError as error:
            raise invalid_request(f"The boundary in the Content-Type is not valid: {error}.") from error

    def write(self, chunk: bytes) -> None:
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise invalid_request(f"The multipart body cannot be read: {error}.") from error

    def finish(self) -> None:
        """Check that the body was a whole form with the file in it."""
        if not self._is_complete:
            raise invalid_request("The multipart body ends before its closing boundary.")
        if not self._has_file:
            received = ", ".join(f"“{name}”" for name in self._other_names) or "none"
            raise invalid_request(f"No part is named “{FILE_PART}”; received: {received}.")

    def _begin_part(self) -> None:
        self._parts += 1
        if self._parts > PARTS_MAX:
            raise invalid_request(f"The form has more than {PARTS_MAX} parts, the most that is accepted.")
        self._header_name = self._header_value = self._disposition = b""

    def _take_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _take_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _end_header(self) -> None:
        if self._header_name.lower() == b"content-disposition":
            self._disposition = self._header_value
        self._header_name = self._header_value = b""

    def _end_headers(self) -> None:
        """Decide from its name what the part is: RFC 7578 section 4.2."""
        _, parameters = parse_options_header(self._disposition.decode("latin-1"))
        name = _shown(parameters.get(b"name", b""))
        self._is_file = name == FILE_PART
        if self._is_file and self._has_file:
            raise invalid_request(f"The form has two parts named “{FILE_PART}”; valid is one per request.")
        if not self._is_file and b"filename" in parameters:
            raise invalid_request(f"A file is in a part named “{name}”; the valid name is “{FILE_PART}”.")
        if self._is_file:
            self._has_file = True
        else:
            self._other_names.append(name)

    def _take_data(self, data: bytes, start: int, end: int) -> None:
        if self._is_file:
            self._on_file(data[start:end])
            return
        self._field_bytes += end - start
        if self._field_bytes > FIELD_BYTES_MAX:
            raise invalid_request(f"The fields beside the file have more than {FIELD_BYTES_MAX} bytes.")

    def _end(self) -> None:
        self._is_complete = True


def _shown(name: bytes) -> str:
    """Return a name for an error message: bounded, and nothing in it that a log or terminal acts on."""
    text = name[:_SHOWN_CHARACTERS_MAX].decode(errors="replace")
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
