"""Tell the type of an image from its first bytes: cheap enough for the request, and no codec is loaded."""

from dataclasses import dataclass

# Enough for every signature below: an ISO media file lists its compatible brands within the first box.
SNIFF_BYTES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageType:
    """A type of original: its name in settings, media type and file extension."""

    name: str
    media_type: str
    extension: str


JPEG = ImageType(name="jpeg", media_type="image/jpeg", extension="jpg")
PNG = ImageType(name="png", media_type="image/png", extension="png")
WEBP = ImageType(name="webp", media_type="image/webp", extension="webp")
GIF = ImageType(name="gif", media_type="image/gif", extension="gif")
AVIF = ImageType(name="avif", media_type="image/avif", extension="avif")
HEIC = ImageType(name="heic", media_type="image/heic", extension="heic")

IMAGE_TYPES = {image_type.name: image_type for image_type in (JPEG, PNG, WEBP, GIF, AVIF, HEIC)}

_AVIF_BRANDS = {b"avif", b"avis"}
_HEIC_BRANDS = {b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis"}


def sniff(head: bytes) -> ImageType | None:
    """Return the type whose signature `head` (the first SNIFF_BYTES of a file, or all of it) carries, or None."""
    if head.startswith(b"\xff\xd8\xff"):
        return JPEG
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return PNG
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return WEBP
    if head.startswith((b"GIF87a", b"GIF89a")):
        return GIF
    return _sniff_iso_media(head)


def _sniff_iso_media(head: bytes) -> ImageType | None:
    """ISO/IEC 14496-12 section 4.3: the file type box lists a major brand and then compatible brands."""
    if head[4:8] != b"ftyp":
        return None
    size = int.from_bytes(head[:4])
    brands = {head[8:12], *(head[at : at + 4] for at in range(16, min(size, len(head)), 4))}
    if brands & _AVIF_BRANDS:
        return AVIF
    if brands & _HEIC_BRANDS:
        return HEIC
    return None
