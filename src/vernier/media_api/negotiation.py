"""Which media types a request accepts: the header Accept, RFC 9110 section 12.5.1."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_QUALITY = re.compile(r"0(\.\d{0,3})?|1(\.0{0,3})?")
# A browser sends eight ranges at most; what follows these is not read.
_RANGES_MAX = 100


def accepts(header: str, media_type: str) -> bool:
    """Tell whether the header leaves `media_type` acceptable; the most specific range that matches it decides."""
    if not header.strip():
        return True
    wide = f"{media_type.partition('/')[0]}/*"
    qualities = dict(reversed(list(_ranges(header))))
    for name in (media_type, wide, "*/*"):
        if name in qualities:
            return qualities[name] > 0
    return False


def names(header: str, media_type: str) -> bool:
    """Tell whether the header names `media_type` itself as acceptable."""
    return any(name == media_type and quality > 0 for name, quality in _ranges(header))


def _ranges(header: str) -> Iterator[tuple[str, float]]:
    for element in header.split(",", _RANGES_MAX)[:_RANGES_MAX]:
        name, *parameters = (word.strip().lower() for word in element.split(";"))
        if name:
            yield name, _quality(parameters)


def _quality(parameters: list[str]) -> float:
    """Return the weight; one that cannot be read counts as 1, as if it were not there."""
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q" and _QUALITY.fullmatch(value.strip()):
            return float(value)
    return 1.0
