"""The form of one upload (RFC 7578), of which the one part named `file` is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vernier.media_api.errors import invalid_request
from vernier.media_api.multipart import FORM_DATA, MultipartReader, boundary_of, media_type_of, shown
from vernier.media_api.sender import TOKEN_FIELD

if TYPE_CHECKING:
    from collections.abc import Callable

    from vernier.media_api.multipart import PartHead

FILE_PART = "file"
# Clients send the file alone or with a few words about it; what they say is ignored, but only up to here.
PARTS_MAX = 20
FIELD_BYTES_MAX = 64 * 1024
# How much longer than the file a body may be: the fields, and the headers and boundaries of every part.
FRAMING_BYTES_MAX = 256 * 1024


class FormReader:
    """Takes the body piece by piece and hands the bytes of the part named `file` to `on_file`.

    Every method raises ApiError for a body that is no such form, and whatever `on_file` raises.
    """

    def __init__(self, content_type: str, *, on_file: Callable[[bytes], None]) -> None:
        self._on_file = on_file
        self._field_bytes = 0
        self._other_names: list[str] = []
        self._tokens: list[bytearray] = []
        self._is_file = False
        self._has_file = False
        self._reader = MultipartReader(
            _boundary_of(content_type),
            parts_max=PARTS_MAX,
            on_part=self._begin_part,
            on_data=self._take_data,
            on_part_end=lambda: None,
        )

    def write(self, chunk: bytes) -> None:
        self._reader.write(chunk)

    def finish(self) -> None:
        """Check that the body was a whole form with the file in it."""
        self._reader.finish()
        if not self._has_file:
            received = ", ".join(f"“{name}”" for name in self._other_names) or "none"
            raise invalid_request(f"No part is named “{FILE_PART}”; received: {received}.")

    @property
    def tokens(self) -> tuple[str, ...]:
        """Return the access tokens in the form; an empty field is none."""
        return tuple(token.decode(errors="replace") for token in self._tokens if token)

    def _begin_part(self, head: PartHead) -> None:
        """Decide from its name what the part is."""
        name = shown(head.name)
        self._is_file = name == FILE_PART
        if self._is_file and self._has_file:
            raise invalid_request(f"The form has two parts named “{FILE_PART}”; valid is one per request.")
        if not self._is_file and head.filename is not None:
            raise invalid_request(f"A file is in a part named “{name}”; the valid name is “{FILE_PART}”.")
        if self._is_file:
            self._has_file = True
        else:
            self._other_names.append(name)
        if name == TOKEN_FIELD:
            self._tokens.append(bytearray())

    def _take_data(self, data: bytes) -> None:
        if self._is_file:
            self._on_file(data)
            return
        self._field_bytes += len(data)
        if self._field_bytes > FIELD_BYTES_MAX:
            raise invalid_request(f"The fields beside the file have more than {FIELD_BYTES_MAX} bytes.")
        if self._other_names[-1] == TOKEN_FIELD:
            self._tokens[-1] += data


def _boundary_of(content_type: str) -> bytes:
    media_type = media_type_of(content_type)
    if media_type != FORM_DATA:
        raise invalid_request(
            f"The body is {shown(media_type) or 'of no declared type'}; valid is multipart/form-data with the"
            f" file in a part named “{FILE_PART}”."
        )
    return boundary_of(content_type)
