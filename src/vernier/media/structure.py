"""Read the structure of an original without decoding it: how many scans it has, and whether its end is there."""

import re
from collections.abc import Iterator

# A marker, wherever it stands: not a stuffed zero, not a fill byte, not a restart within a scan (ITU-T T.81, B.1.1).
_JPEG_MARKER = re.compile(rb"\xff([\x01-\xcf\xd8-\xfe])")
_JPEG_SCAN = 0xDA
_JPEG_END = 0xD9
# Markers that no length follows: TEM, SOI, EOI.
_JPEG_BARE = {0x01, 0xD8, _JPEG_END}

_PNG_SIGNATURE_BYTES = 8
# Length and type before the data of a chunk, and the checksum behind it.
_PNG_CHUNK_BYTES = 12
_GIF_HEADER_BYTES = 13
_GIF_EXTENSION = 0x21
_GIF_IMAGE = 0x2C
_GIF_TRAILER = 0x3B
# A descriptor, and the smallest code size of the data behind it.
_GIF_IMAGE_BYTES = 11
_BOX_IS_LARGE = 1
_BOX_IS_LAST = 0


def scan_count(data: bytes, *, scans_max: int) -> int:
    """Return the number of start-of-scan markers of a JPEG; counting ends one above `scans_max`."""
    count = 0
    for marker in _jpeg_markers(data):
        count += marker == _JPEG_SCAN
        if count > scans_max:
            break
    return count


def ends_early(data: bytes, image_type: str) -> bool:
    """Tell whether the end that the format prescribes is missing."""
    match image_type:
        case "jpeg":
            return _JPEG_END not in _jpeg_markers(data)
        case "png":
            return b"IEND" not in _png_chunks(data)
        case "webp":
            return int.from_bytes(data[4:8], "little") + 8 > len(data)
        case "gif":
            return _gif_ends_early(data)
    return _boxes_end_early(data)


def _jpeg_markers(data: bytes) -> Iterator[int]:
    """Yield the markers up to the end of the image: what follows it (a second image, a film) does not count."""
    at = 2
    while found := _JPEG_MARKER.search(data, at):
        marker = found[1][0]
        yield marker
        if marker == _JPEG_END:
            return
        at = found.end()
        if marker not in _JPEG_BARE:
            at += int.from_bytes(data[at : at + 2])


def _png_chunks(data: bytes) -> Iterator[bytes]:
    """Yield the types of the chunks that are there completely."""
    at = _PNG_SIGNATURE_BYTES
    while at + _PNG_CHUNK_BYTES <= len(data):
        end = at + _PNG_CHUNK_BYTES + int.from_bytes(data[at : at + 4])
        if end <= len(data):
            yield data[at + 4 : at + 8]
        at = end


def _gif_ends_early(data: bytes) -> bool:
    """GIF89a, appendix A: walk the blocks; one that is none of the three kinds is damage, not an end."""
    at = _GIF_HEADER_BYTES + _colour_table_bytes(data[10:11])
    while at < len(data) and data[at] != _GIF_TRAILER:
        if data[at] == _GIF_EXTENSION:
            at += 2
        elif data[at] == _GIF_IMAGE:
            at += _GIF_IMAGE_BYTES + _colour_table_bytes(data[at + 9 : at + 10])
        else:
            return False
        while at < len(data) and data[at]:
            at += 1 + data[at]
        at += 1
    return at >= len(data)


def _colour_table_bytes(flags: bytes) -> int:
    return 3 << (flags[0] & 7) + 1 if flags and flags[0] & 0x80 else 0


def _boxes_end_early(data: bytes) -> bool:
    """ISO/IEC 14496-12 section 4.2: walk the top-level boxes; a size below a header's own is damage, not an end."""
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4])
        if size == _BOX_IS_LARGE:
            size = int.from_bytes(data[at + 8 : at + 16])
        if size == _BOX_IS_LAST:
            return False
        if size < 8:  # noqa: PLR2004 - size and type
            return False
        at += size
    return at > len(data)
