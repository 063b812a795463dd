"""Encode upright sRGB pixels: the same pixels always give the same bytes, and nothing but pixels goes in."""

import io
import os
from typing import Any

import pillow_avif  # noqa: F401 - replaces Pillow's own AVIF plug-in by one that can encode with SVT-AV1
import pyvips
from PIL import Image

from vernier.media.exceptions import MEMORY_TRIES_MAX, TransientError
from vernier.media.failures import FailureCode
from vernier.media.variants import Format, Size

# SVT-AV1 prints a banner for every image otherwise.
os.environ.setdefault("SVT_LOG", "1")

# SVT-AV1 refuses what is outside of these (measured: 4 to 16,384 wide and 8,704 high; it was 16 once), and reports
# each refusal like a lack of memory. aom takes over by size and never after a failure: the same original must give
# the same bytes whatever memory was free.
_SVT_SIDE_MIN = 16
_SVT_WIDTH_MAX = 16_384
_SVT_HEIGHT_MAX = 8_704
# Bytes differ between one thread and more.
_AVIF: dict[str, Any] = {"max_threads": 1, "subsampling": "4:2:0"}
_SVT: dict[str, Any] = {"codec": "svt", "speed": 7, "advanced": {"tune": "4"}}
_AOM: dict[str, Any] = {"codec": "aom", "speed": 8}
# aom needs this much more of the quality scale to look as good as SVT-AV1 does.
_AOM_QUALITY_MORE = 6
_QUALITY_MAX = 100

_WHITE = [255, 255, 255]
# Pixels per millimetre: 72 per inch, where libvips would write 25 into a PNG.
_DENSITY = 72 / 25.4


def encode(image: pyvips.Image, encoding: Format, *, quality: int) -> bytes:
    """Return `image` (sRGB, 8 bit, 3 or 4 bands, no metadata) encoded; PNG and GIF have no quality."""
    if encoding == "avif":
        return _encode_avif(image, quality)
    if encoding == "jpeg" and image.hasalpha():
        image = image.flatten(background=_WHITE)
    options: dict[Format, dict[str, Any]] = {
        # Without `on`, chroma is not subsampled from quality 90 upwards.
        "jpeg": {"Q": quality, "interlace": True, "optimize_coding": True, "subsample_mode": "on"},
        # Without filters a photo is nearly twice as large; a higher compression doubles the time for 3 %.
        "png": {"compression": 4, "filter": "all"},
        "webp": {"Q": quality, "effort": 4},
        "gif": {"effort": 7},
    }
    data: bytes = image.copy(xres=_DENSITY, yres=_DENSITY).write_to_buffer(
        f".{encoding}", keep="none", **options[encoding]
    )
    return data


def _encode_avif(image: pyvips.Image, quality: int) -> bytes:
    size = Size(width=image.width, height=image.height)
    if not _svt_takes(size):
        return _save_avif(image, quality=min(_QUALITY_MAX, quality + _AOM_QUALITY_MORE), **_AOM)
    try:
        return _save_avif(image, quality=quality, **_SVT)
    except RuntimeError as error:
        raise TransientError(FailureCode.OUT_OF_MEMORY, f"SVT-AV1: {error}", tries_max=MEMORY_TRIES_MAX) from error


def _svt_takes(size: Size) -> bool:
    return (
        min(size.width, size.height) >= _SVT_SIDE_MIN
        and size.width <= _SVT_WIDTH_MAX
        and size.height <= _SVT_HEIGHT_MAX
    )


def _save_avif(image: pyvips.Image, **options: Any) -> bytes:  # noqa: ANN401 - Pillow's options
    mode = "RGBA" if image.hasalpha() else "RGB"
    pixels = Image.frombuffer(mode, (image.width, image.height), image.write_to_memory(), "raw", mode, 0, 1)
    encoded = io.BytesIO()
    pixels.save(encoded, "AVIF", **_AVIF, **options)
    return encoded.getvalue()
