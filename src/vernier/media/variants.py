"""Variants: the recipes for renditions, as settings define them and as a Version keeps them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

Format = Literal["avif", "jpeg", "png", "gif", "webp"]
# `plain` is a format that every consumer reads: JPEG, or PNG where there is transparency, or GIF for a GIF.
# `family` is the type that was uploaded where every consumer reads it (JPEG, PNG, GIF), otherwise as `plain`.
FormatRule = Literal["avif", "jpeg", "png", "gif", "webp", "plain", "family"]
Fit = Literal["inside", "cover"]

EXTENSIONS: dict[Format, str] = {"avif": "avif", "jpeg": "jpg", "png": "png", "gif": "gif", "webp": "webp"}
MEDIA_TYPES: dict[Format, str] = {name: f"image/{name}" for name in EXTENSIONS}

# The longest side, in pixels, that every encoder takes.
SIDE_MAX = 16_384

# The two variants that the capability URL is served from.
PHOTO = "photo"
FALLBACK = "fallback"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Width and height in pixels."""

    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A recipe: into which format, at most how wide and high (pixels), how good (0-100) and how fitted.

    `fit` is `inside` (the whole image, never enlarged) or `cover` (cropped about its centre to the shape of
    width_max by height_max). A variant that is `narrower` is made only where it comes out narrower than the first
    of its set: a step of a `srcset`.
    """

    name: str
    format: FormatRule
    width_max: int
    height_max: int
    quality: int
    fit: Fit = "inside"
    narrower: bool = False

    def __post_init__(self) -> None:
        _require(self.name.isascii() and self.name.isidentifier(), "name", self.name, "letters, digits and _")
        _require(self.format in get_args(FormatRule), "format", self.format, f"one of {get_args(FormatRule)}")
        _require(self.fit in get_args(Fit), "fit", self.fit, f"one of {get_args(Fit)}")
        _require(1 <= self.width_max <= SIDE_MAX, "width_max", self.width_max, f"1 to {SIDE_MAX}")
        _require(1 <= self.height_max <= SIDE_MAX, "height_max", self.height_max, f"1 to {SIDE_MAX}")
        _require(1 <= self.quality <= 100, "quality", self.quality, "1 to 100")  # noqa: PLR2004 - a percentage

    def size_for(self, original: Size) -> Size:
        """Return the size of this variant's rendition of an upright `original`; no side is below one pixel."""
        if self.fit == "cover":
            scale = min(1.0, original.width / self.width_max, original.height / self.height_max)
            return Size(width=max(1, round(self.width_max * scale)), height=max(1, round(self.height_max * scale)))
        scale = min(1.0, self.width_max / original.width, self.height_max / original.height)
        return Size(width=max(1, round(original.width * scale)), height=max(1, round(original.height * scale)))

    def format_for(self, *, image_type: str, has_alpha: bool) -> Format:
        """Return the format that the rule gives for an original of `image_type` (a name of `sniff.IMAGE_TYPES`)."""
        if self.format == "family" and image_type == "png":
            return "png"
        if self.format in {"plain", "family"}:
            if image_type == "gif":
                return "gif"
            return "png" if has_alpha else "jpeg"
        return self.format  # type: ignore[return-value]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Variant:
        return cls(**stored)


def required_variants(variants: tuple[Variant, ...], original: Size) -> tuple[Variant, ...]:
    """Return the variants that an original of this upright size must have, in the order of their definition."""
    main_width = variants[0].size_for(original).width
    return tuple(
        variant for variant in variants if not variant.narrower or variant.size_for(original).width < main_width
    )


def _require(valid: bool, field: str, received: object, expected: str) -> None:  # noqa: FBT001
    if not valid:
        raise ValueError(f"Variant.{field} is {received!r}; valid is {expected}.")


# A step of a srcset is named by its width: it has no limit of its own on the height.
DEFAULT_VARIANTS = (
    Variant(name=PHOTO, format="avif", width_max=2048, height_max=2048, quality=50),
    Variant(name="w480", format="avif", width_max=480, height_max=SIDE_MAX, quality=50, narrower=True),
    Variant(name="w960", format="avif", width_max=960, height_max=SIDE_MAX, quality=50, narrower=True),
    Variant(name="w1600", format="avif", width_max=1600, height_max=SIDE_MAX, quality=50, narrower=True),
    Variant(name=FALLBACK, format="plain", width_max=2048, height_max=2048, quality=82),
)
