"""What the tests of rendering share: the corpus, the photos, and one call that renders a whole set."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vernier.media.child.protocol import Measured, Rendered
from vernier.media.conf import MediaSettings
from vernier.media.render import Renderer, open_renderer
from vernier.media.sniff import SNIFF_BYTES, ImageType, sniff
from vernier.media.variants import DEFAULT_VARIANTS, Variant, required_variants

CORPUS = Path(__file__).parent.parent / "corpus"
_PHOTOS = Path(__file__).parents[3] / "shared" / "photos"
SETTINGS = MediaSettings()
# Flat areas of the corpus move by no more than this per channel at the default qualities.
TOLERANCE = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A file of the corpus and what it must come to."""

    file: str
    expected: str

    @property
    def path(self) -> Path:
        return CORPUS / self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A measured original and its renditions by the name of their variant."""

    measured: Measured
    renditions: dict[str, Rendered]


def corpus_rows() -> list[Row]:
    with (CORPUS / "MANIFEST.tsv").open(encoding="utf-8") as manifest:
        return [Row(file=row["file"], expected=row["expected"]) for row in csv.DictReader(manifest, delimiter="\t")]


def photo(name: str) -> Path:
    path = _PHOTOS / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path


def sniff_path(path: Path) -> ImageType | None:
    return sniff(path.read_bytes()[:SNIFF_BYTES])


def render_set(
    path: Path,
    *,
    variants: tuple[Variant, ...] = DEFAULT_VARIANTS,
    settings: MediaSettings = SETTINGS,
    opener=open_renderer,
) -> Result:
    """Render what the variants require of the original, and have each rendition verified."""
    image_type = sniff_path(path).name
    with opener(
        str(path), image_type=image_type, variants=variants, settings=settings, on_tick=lambda: None
    ) as renderer:
        measured = renderer.measure()
        required = required_variants(variants, measured.size)
        return Result(measured=measured, renditions={v.name: render_verified(renderer, v) for v in required})


def render_verified(renderer: Renderer, variant: Variant) -> Rendered:
    rendered = renderer.render(variant)
    verified = renderer.verify(rendered.data)
    assert (verified.format, verified.size) == (rendered.format, rendered.size)
    return rendered


def decode(rendered: Rendered, mode: str = "RGB") -> Image.Image:
    """Decode with Pillow alone, and check that the size is the one that was told."""
    with Image.open(io.BytesIO(rendered.data)) as image:
        assert image.size == (rendered.size.width, rendered.size.height)
        return image.convert(mode)


def pixels(image: Image.Image) -> np.ndarray:
    return np.asarray(image, dtype=np.int16)


def variant(encoding: str = "avif", *, width_max: int = 2048, height_max: int = 2048, **changes) -> Variant:
    return Variant(
        **{
            "name": "photo",
            "format": encoding,
            "width_max": width_max,
            "height_max": height_max,
            "quality": 80,
            **changes,
        }
    )
