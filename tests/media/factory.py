"""Small originals, authors and settings that the tests of the pipeline share."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.contrib.auth import get_user_model
from PIL import Image

from vernier.media.variants import Variant

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)

# Three quick recipes with everything that the default set has: a main one, a narrower step, a plain fallback.
SMALL_VARIANTS = (
    Variant(name="photo", format="avif", width_max=64, height_max=64, quality=50),
    Variant(name="w24", format="webp", width_max=24, height_max=64, quality=50, narrower=True),
    Variant(name="fallback", format="plain", width_max=64, height_max=64, quality=80),
)


def author(name: str = "alice") -> AbstractBaseUser:
    return get_user_model().objects.get_or_create(username=name)[0]


def image_bytes(width: int = 48, height: int = 32, *, kind: str = "JPEG", colour: Any = (200, 60, 40)) -> bytes:
    """Return an image of one colour; the same arguments give the same bytes."""
    mode = "RGBA" if len(colour) == 4 else "RGB"
    out = io.BytesIO()
    Image.new(mode, (width, height), colour).save(out, kind)
    return out.getvalue()
