"""What a worker and the child process that renders for it tell each other: a JSON header and raw bytes.

Nothing is pickled: the child has read a hostile file, and whatever it answers is parsed as hostile.
"""

from __future__ import annotations

import json
import re
import struct
from dataclasses import asdict, dataclass
from typing import Any

from vernier.media.variants import Format, Size, Variant

# Length of the header and length of the data, in bytes, before each message.
LENGTHS = struct.Struct(">II")
# A job with some hundred variants fits; an answer's header has some hundred bytes.
HEADER_BYTES_MAX = 64 * 1024
# What a codec says goes into a row and a log line.
DETAIL_CHARACTERS_MAX = 500

_COLOUR = re.compile(r"#[0-9a-f]{6}")

# What the fork server tells when a child has ended.
EXIT_CODE = struct.Struct(">i")
# Told in place of an exit code when the kernel had no room for a child; outside of the codes that exist.
FORK_REFUSED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What is known of an original once it is decoded.

    Its upright size, whether any of it is transparent, and its average colour over white, like `#a1b2c3`.
    """

    size: Size
    has_alpha: bool
    placeholder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """The bytes of a rendition, with the format and size that they have."""

    data: bytes
    format: Format
    size: Size


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What a stored rendition turned out to be when it was decoded."""

    format: Format
    size: Size


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a child is started for, and the limits that it sets itself before it reads the original."""

    path: str
    image_type: str
    variants: tuple[Variant, ...]
    pixels_max: int
    memory_bytes: int
    cpu_seconds: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, header: dict[str, Any]) -> Job:
        variants = tuple(Variant.from_json(stored) for stored in header["variants"])
        return cls(**{**header, "variants": variants})


def pack(header: dict[str, Any], data: bytes = b"") -> bytes:
    """Return one message as it travels."""
    head = json.dumps(header).encode()
    return LENGTHS.pack(len(head), len(data)) + head + data


def colour_from_json(stored: Any) -> str:  # noqa: ANN401 - it comes from a hostile process
    """Return the colour; raise ValueError when it is not one: it goes into pages."""
    if isinstance(stored, str) and _COLOUR.fullmatch(stored):
        return stored
    raise ValueError(f"A colour is {stored!r}; valid is # and six hexadecimal digits in lower case.")


def size_to_json(size: Size) -> list[int]:
    return [size.width, size.height]


def size_from_json(stored: Any) -> Size:  # noqa: ANN401 - it comes from a hostile process
    """Return the size; raise ValueError when it is not two positive whole numbers."""
    match stored:
        case [int(width), int(height)] if width > 0 and height > 0:
            return Size(width=width, height=height)
    raise ValueError(f"A size is {stored!r}; valid are two positive whole numbers.")
