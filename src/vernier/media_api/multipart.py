"""A multipart/form-data body (RFC 7578) as it arrives, part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from vernier.media_api.errors import invalid_request

if TYPE_CHECKING:
    from collections.abc import Callable

FORM_DATA = b"multipart/form-data"
# A part has two or three header lines; a file name in one of them may be long, and is ignored.
HEADERS_MAX = 8
HEADER_BYTES_MAX = 16 * 1024
# So much of a name is repeated to the client.
SHOWN_CHARACTERS_MAX = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class PartHead:
    """What a part says of itself: RFC 7578 section 4.2. Only a file has a `filename`, which may be empty."""

    name: bytes
    filename: bytes | None
    media_type: bytes


class MultipartReader:
    """Takes the body piece by piece and tells of each part: its head, its data in pieces, its end.

    Every method raises ApiError for a body that is no such form, and whatever the three functions raise.
    """

    def __init__(
        self,
        boundary: bytes,
        *,
        parts_max: int,
        on_part: Callable[[PartHead], None],
        on_data: Callable[[bytes], None],
        on_part_end: Callable[[], None],
    ) -> None:
        self._parts_max = parts_max
        self._on_part = on_part
        self._on_data = on_data
        self._parts = 0
        self._is_complete = False
        self._header_name = b""
        self._header_value = b""
        self._headers: dict[bytes, bytes] = {}
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
                    "on_part_end": on_part_end,
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
        """Check that the body was a whole form."""
        if not self._is_complete:
            raise invalid_request("The multipart body ends before its closing boundary.")

    def _begin_part(self) -> None:
        self._parts += 1
        if self._parts > self._parts_max:
            raise invalid_request(f"The form has more than {self._parts_max} parts, the most that is accepted.")
        self._header_name = self._header_value = b""
        self._headers = {}

    def _take_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _take_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _end_header(self) -> None:
        self._headers[self._header_name.lower()] = self._header_value
        self._header_name = self._header_value = b""

    def _end_headers(self) -> None:
        _, parameters = parse_options_header(self._header(b"content-disposition"))
        media_type, _ = parse_options_header(self._header(b"content-type"))
        name, filename = parameters.get(b"name", b""), parameters.get(b"filename")
        self._on_part(PartHead(name=name, filename=filename, media_type=media_type))

    def _header(self, name: bytes) -> str:
        return self._headers.get(name, b"").decode("latin-1")

    def _take_data(self, data: bytes, start: int, end: int) -> None:
        self._on_data(data[start:end])

    def _end(self) -> None:
        self._is_complete = True


def media_type_of(content_type: str) -> bytes:
    """Return the type in the Content-Type, lower case and without parameters."""
    media_type, _ = parse_options_header(content_type)
    return media_type


def boundary_of(content_type: str) -> bytes:
    """Return the boundary that a multipart Content-Type names; raise ApiError where it names none."""
    _, parameters = parse_options_header(content_type)
    boundary = parameters.get(b"boundary", b"")
    if not boundary:
        raise invalid_request("The Content-Type multipart/form-data lacks its boundary parameter.")
    return boundary


def shown(name: bytes, *, characters_max: int = SHOWN_CHARACTERS_MAX) -> str:
    """Return a name to be shown: bounded, and nothing in it that a log or terminal acts on."""
    # No character has more than four bytes.
    text = name[: 4 * characters_max].decode(errors="replace")[:characters_max]
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
