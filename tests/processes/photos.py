"""Real camera photos where they are present, photo-like generated ones otherwise, and what they must look like."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageCms, ImageOps

PHOTOS = Path(__file__).parent.parent.parent.parent / "shared" / "photos"
# Pictures are compared at this size: what differs here is another picture, not another encoder.
LOOK_PIXELS = (48, 48)
# Mean difference per channel, of 255, that lossy encoding may make at that size.
LOOK_DIFFERENCE_MAX = 4.0


@dataclass(frozen=True)
class Photo:
    name: str
    content: bytes


def photos() -> list[Photo]:
    paths = sorted(PHOTOS.glob("*.jpg"))
    if paths:
        return [Photo(path.name, path.read_bytes()) for path in paths]
    return [Photo(f"generated{seed}.jpg", _generated(seed)) for seed in range(4)]


def looks_alike(photo: Photo, served: bytes) -> bool:
    """Whether what is served shows the photo: upright, in its colours, at most 2048 pixels on a side."""
    with Image.open(io.BytesIO(served)) as image:
        got = image.convert("RGB")
    expected = _upright_srgb(photo.content)
    scale = 2048 / max(expected.size)
    if got.size != tuple(max(1, round(side * scale)) for side in expected.size):
        return False
    difference = _look(got) - _look(expected)
    return float(np.abs(difference).mean()) <= LOOK_DIFFERENCE_MAX


def _upright_srgb(content: bytes) -> Image.Image:
    with Image.open(io.BytesIO(content)) as image:
        profile = image.info.get("icc_profile")
        upright = ImageOps.exif_transpose(image).convert("RGB")
    if profile:
        upright = ImageCms.profileToProfile(upright, io.BytesIO(profile), ImageCms.createProfile("sRGB"))
    return upright


def _look(image: Image.Image) -> np.ndarray:
    return np.asarray(image.resize(LOOK_PIXELS, Image.Resampling.BOX), dtype=np.float64)


def _generated(seed: int) -> bytes:
    """A 12-megapixel picture with smooth areas, edges and noise, as a camera's has."""
    random = np.random.default_rng(seed)
    coarse = Image.fromarray(random.integers(0, 255, (30, 40, 3), dtype=np.uint8))
    smooth = np.asarray(coarse.resize((4032, 3024), Image.Resampling.BICUBIC), dtype=np.int16)
    noisy = np.clip(smooth + random.integers(-12, 12, smooth.shape), 0, 255).astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(noisy).save(out, "JPEG", quality=88)
    return out.getvalue()
