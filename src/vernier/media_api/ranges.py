"""One byte range of a file: RFC 9110 section 14."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vernier.media_api.errors import ApiError

# 18 digits are more than any file has bytes. Several ranges, or another unit, are answered with the whole file,
# which section 14.2 allows.
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteRange:
    """The bytes from `start` up to, and not including, `stop`."""

    start: int
    stop: int

    def content_range(self, size: int) -> str:
        return f"bytes {self.start}-{self.stop - 1}/{size}"


def requested_range(header: str, size: int) -> ByteRange | None:
    """Return the range that the header asks for, None for the whole; raise ApiError 416 if no byte is in it."""
    match = _RANGE.fullmatch(header.strip().lower())
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:
        start, stop = max(0, size - int(last)), size
    else:
        start, stop = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < start:
            return None
    if start >= size or start >= stop:
        raise ApiError(
            416,
            "range_not_satisfiable",
            f"The range has no byte of a file of {size} bytes.",
            headers={"Content-Range": f"bytes */{size}"},
        )
    return ByteRange(start=start, stop=stop)
