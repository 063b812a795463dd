"""Decode originals and stored renditions. With `encoders`, the only place that loads a codec; no Django settings.

The policy: the first frame only; EXIF orientation applied once, and no orientation that only XMP carries; everything
converted to sRGB with 8 bits; only pixels reach an encoder, so that no metadata can; truncated files refused.
"""

import io
import re
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pyvips
from PIL import ExifTags, Image, WebPImagePlugin  # noqa: F401 - registers the decoder of WebP, for `verify`
from pillow_avif import AvifImagePlugin

from vernier.media.child.protocol import Rendered, Verified
from vernier.media.encoders import encode
from vernier.media.exceptions import (
    CRASH_TRIES_MAX,
    MEMORY_TRIES_MAX,
    PermanentError,
    ProcessingError,
    TransientError,
)
from vernier.media.failures import FailureCode
from vernier.media.structure import ends_early, scan_count
from vernier.media.variants import Format, Size, Variant

__all__ = ["Picture", "Rendered", "Verified", "verify"]

# libvips chooses a loader by content, and some of its loaders read SVG, PDF or scripts: all but these are blocked.
pyvips.block_untrusted_set(True)
pyvips.operation_block_set("VipsForeignLoad", True)
for _loader in ("VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadWebp", "VipsForeignLoadNsgif"):
    pyvips.operation_block_set(_loader, False)
# One thread: memory is bounded, and two processes do more than two threads.
pyvips.concurrency_set(1)
# A cached operation would only keep pixels that nobody asks for again.
pyvips.cache_set_max(0)
AvifImagePlugin.DEFAULT_MAX_THREADS = 1
# Pillow's own limit warns at one size and refuses at another; `pixels_max` is checked from the header instead.
Image.MAX_IMAGE_PIXELS = None

# A 93 kB JPEG with 630 scans took half a minute; cameras and editors write at most 12.
JPEG_SCANS_MAX = 64

_LOADERS: dict[str, Callable[..., Any]] = {
    "jpeg": pyvips.Image.jpegload_buffer,
    "png": pyvips.Image.pngload_buffer,
    "webp": pyvips.Image.webpload_buffer,
    "gif": pyvips.Image.gifload_buffer,
}
# A file that ends early or is damaged is an error; libvips fills it up with grey otherwise.
_FAIL_ON = "error"
_ICC = "icc-profile-data"
_ORIENTATION = "orientation"
# EXIF orientations that lie on their side.
_SIDEWAYS = {5, 6, 7, 8}
_OPAQUE = 255
_COLOUR_BANDS = 3
# How libvips, GLib, libjpeg and libavif say it; without room for its stack no thread can be started either.
_MEMORY_PHRASES = ("out of memory", "allocate memory", "insufficient memory", "memory allocation", "creating thread")
# Decoders that report a lack of memory in the words of a damaged file.
_SILENT_OF_MEMORY = {"webp", "avif"}
# What Pillow tells of a rendition without metadata: density, and how a GIF or WebP is to be shown.
_PLAIN_INFO = {
    *("jfif", "jfif_version", "jfif_unit", "jfif_density", "dpi", "progressive", "progression"),
    *("version", "background", "transparency", "duration", "extension", "loop", "timestamp"),
}


class Picture:
    """An original, decoded once at the largest size that any of its variants needs."""

    def __init__(self, base: Any, *, size: Size, image_type: str) -> None:  # noqa: ANN401 - pyvips has no types
        self._base = base
        self._image_type = image_type
        self.size = size
        self.has_alpha = bool(base.hasalpha())

    @classmethod
    def open(cls, path: str, *, image_type: str, variants: tuple[Variant, ...], pixels_max: int) -> "Picture":
        """Decode the original; raise PermanentError or TransientError where that is not possible.

        The pixels of each rendition depend on `variants` (the largest decides how the original is shrunk while it
        is decoded): pass all of them at each attempt, also those that exist already.
        """
        data = _read(path)
        with _reasons(data, image_type):
            source = _open_source(data, image_type, pixels_max=pixels_max)
            size = _upright_size(source)
            needs = [_size_before_crop(variant, size) for variant in variants]
            base = Size(width=max(need.width for need in needs), height=max(need.height for need in needs))
            return cls(_pixels(_to_srgb(_shrink(source, data, base))), size=size, image_type=image_type)

    def average_colour(self) -> str:
        """Return the average of all pixels, over white where they are transparent, like `#a1b2c3`."""
        with _reasons():
            opaque = self._base.flatten(background=[_OPAQUE] * _COLOUR_BANDS) if self.has_alpha else self._base
            bands = opaque.shrink(opaque.width, opaque.height).getpoint(0, 0)
            return "#" + "".join(f"{round(band):02x}" for band in bands)

    def render(self, variant: Variant) -> Rendered:
        """Return the rendition of `variant`, made from the decoded base: the order of the calls is of no matter."""
        size = variant.size_for(self.size)
        encoding = variant.format_for(image_type=self._image_type, has_alpha=self.has_alpha)
        with _reasons():
            scaled = _scale(self._base, _size_before_crop(variant, self.size))
            image = scaled.crop((scaled.width - size.width) // 2, (scaled.height - size.height) // 2, *_pair(size))
            return Rendered(data=encode(image, encoding, quality=variant.quality), format=encoding, size=size)


def verify(data: bytes) -> Verified:
    """Decode a stored rendition completely and return what it is.

    Raise TransientError (`storage-unavailable`) where it cannot be decoded or carries metadata: these are not the
    bytes of a rendition, so storing it has not succeeded.
    """
    try:
        with Image.open(io.BytesIO(data), formats=("AVIF", "JPEG", "PNG", "GIF", "WEBP")) as image:
            image.load()
            metadata = sorted(map(str, set(image.info) - _PLAIN_INFO))
            encoding = cast("Format", str(image.format).lower())
            size = Size(width=image.width, height=image.height)
    except MemoryError as error:
        raise _out_of_memory(error) from error
    except Exception as error:
        raise TransientError(FailureCode.STORAGE_UNAVAILABLE, f"rendition does not decode: {error}") from error
    if metadata:
        raise TransientError(FailureCode.STORAGE_UNAVAILABLE, f"rendition carries metadata: {metadata}")
    return Verified(format=encoding, size=size)


def _read(path: str) -> bytes:
    """Read it all before decoding, so that a disk error is not taken for a damaged image."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise TransientError(FailureCode.STORAGE_UNAVAILABLE, f"original: {error}") from error


@contextmanager
def _reasons(original: bytes | None = None, image_type: str = "") -> Iterator[None]:
    """Give whatever a codec raises its reason; with an `original`, failing to decode it is permanent."""
    try:
        yield
    except ProcessingError:
        raise
    except Exception as error:
        if isinstance(error, MemoryError) or any(phrase in str(error).lower() for phrase in _MEMORY_PHRASES):
            raise _out_of_memory(error) from error
        if image_type in _SILENT_OF_MEMORY and _memory_was_short():
            raise _out_of_memory(error) from error
        if original is None:
            raise TransientError(FailureCode.DECODER_CRASHED, _one_line(error), tries_max=CRASH_TRIES_MAX) from error
        code = FailureCode.TRUNCATED if ends_early(original, image_type) else FailureCode.UNDECODABLE
        raise PermanentError(code, _one_line(error)) from error


def _memory_was_short() -> bool:
    """Tell whether this process has ever used more than half of the address space that it may have."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return False
    found = re.search(rb"VmPeak:\s*(\d+) kB", Path("/proc/self/status").read_bytes())
    return found is not None and int(found[1]) * 1024 > limit // 2


def _out_of_memory(error: Exception) -> TransientError:
    return TransientError(FailureCode.OUT_OF_MEMORY, _one_line(error), tries_max=MEMORY_TRIES_MAX)


def _one_line(error: Exception) -> str:
    return " | ".join(f"{type(error).__name__}: {error}".split("\n")).strip(" |")


def _open_source(data: bytes, image_type: str, *, pixels_max: int) -> Any:  # noqa: ANN401
    """Return a libvips image of which the header has been read and found to be within the limits."""
    if image_type == "jpeg" and scan_count(data, scans_max=JPEG_SCANS_MAX) > JPEG_SCANS_MAX:
        raise PermanentError(FailureCode.TOO_COMPLEX, f"more than {JPEG_SCANS_MAX} scans")
    if image_type == "avif":
        return _open_avif(data, pixels_max=pixels_max)
    if image_type not in _LOADERS:
        raise PermanentError(FailureCode.UNSUPPORTED_TYPE, f"no decoder for {image_type} is installed")
    source = _LOADERS[image_type](data, access="sequential", fail_on=_FAIL_ON)
    _require_pixels(source.width, source.height, pixels_max)
    return source


def _open_avif(data: bytes, *, pixels_max: int) -> Any:  # noqa: ANN401
    with AvifImagePlugin.AvifImageFile(io.BytesIO(data)) as image:
        _require_pixels(image.width, image.height, pixels_max)
        orientation, profile = _avif_orientation(image), image.info.get("icc_profile")
        frame = image if image.mode in {"RGB", "RGBA"} else image.convert("RGB")
        source = _from_memory(frame.tobytes(), frame.width, frame.height, len(frame.getbands()))
    source.set_type(pyvips.GValue.gint_type, _ORIENTATION, orientation)
    if profile:
        source.set_type(pyvips.GValue.blob_type, _ICC, profile)
    return source


def _avif_orientation(image: Image.Image) -> int:
    """Return the orientation that the plug-in made of the boxes `irot` and `imir`; `getexif` would also read XMP."""
    exif = Image.Exif()
    exif.load(image.info.get("exif", b""))
    orientation = exif.get(ExifTags.Base.Orientation, 1)
    return orientation if orientation in range(1, 9) else 1


def _require_pixels(width: int, height: int, pixels_max: int) -> None:
    if width * height > pixels_max:
        raise PermanentError(
            FailureCode.TOO_MANY_PIXELS, f"{width} x {height} pixels; at most {pixels_max} are accepted"
        )


def _upright_size(source: Any) -> Size:  # noqa: ANN401
    orientation = source.get(_ORIENTATION) if source.get_typeof(_ORIENTATION) else 1
    if orientation in _SIDEWAYS:
        return Size(width=source.height, height=source.width)
    return Size(width=source.width, height=source.height)


def _size_before_crop(variant: Variant, original: Size) -> Size:
    """Return the size to which the whole original is scaled for `variant`."""
    size = variant.size_for(original)
    if variant.fit == "inside":
        return size
    scale = max(size.width / original.width, size.height / original.height)
    return Size(
        width=max(size.width, round(original.width * scale)),
        height=max(size.height, round(original.height * scale)),
    )


def _shrink(source: Any, data: bytes, size: Size) -> Any:  # noqa: ANN401
    """Return the original upright at exactly `size`; a JPEG or WebP is shrunk while it is decoded."""
    options = {"height": size.height, "size": "force"}
    if source.get_typeof("vips-loader"):
        return pyvips.Image.thumbnail_buffer(
            data, size.width, option_string=f"[fail_on={_FAIL_ON}]", fail_on=_FAIL_ON, **options
        )
    return source.thumbnail_image(size.width, **options)


def _to_srgb(image: Any) -> Any:  # noqa: ANN401
    """Convert through the embedded profile, if there is a usable one."""
    if image.get_typeof(_ICC):
        try:
            image = image.icc_transform("srgb", embedded=True, depth=8)
        except pyvips.Error:
            # A profile that is damaged, or not for this kind of image: browsers ignore it as well.
            image = image.copy()
            image.remove(_ICC)
    return image.colourspace("srgb").cast("uchar")


def _pixels(image: Any) -> Any:  # noqa: ANN401
    """Decode into memory and leave everything but pixels behind; an alpha that is opaque throughout goes, too."""
    decoded = _from_memory(image.write_to_memory(), image.width, image.height, image.bands)
    if decoded.hasalpha() and decoded[_COLOUR_BANDS].min() == _OPAQUE:
        return decoded.extract_band(0, n=_COLOUR_BANDS).copy_memory()
    return decoded


def _from_memory(pixels: bytes, width: int, height: int, bands: int) -> Any:  # noqa: ANN401
    image = pyvips.Image.new_from_memory(pixels, width, height, bands, "uchar")
    return image.copy(interpretation="srgb")


def _scale(image: Any, size: Size) -> Any:  # noqa: ANN401
    if (image.width, image.height) == _pair(size):
        return image
    return image.thumbnail_image(size.width, height=size.height, size="force")


def _pair(size: Size) -> tuple[int, int]:
    return size.width, size.height
