"""Alt texts that are sent beside their photos, each in the place of its photo: `mp-photo-alt`."""

from __future__ import annotations

from typing import Any

from vernier.posts.exceptions import PropertyInvalid

PHOTO = "photo"
PHOTO_ALT = "mp-photo-alt"


def with_alts(photos: list[Any], alts: list[Any]) -> list[Any]:
    """Return the values of `photo` with the alt texts; one that a photo has itself stays.

    An empty text keeps its place, and so does an empty photo, which is left out after that.
    """
    for alt in alts:
        if not isinstance(alt, str):
            raise PropertyInvalid(PHOTO_ALT, alt, "a text for each photo")
    padded = [*alts, *[""] * len(photos)]
    return [_with_alt(photo, alt) for photo, alt in zip(photos, padded, strict=False) if photo not in ("", None)]


def address_of(photo: Any) -> str:  # noqa: ANN401 - whatever a client has sent
    """Return the address in a value of `photo`, or nothing."""
    value = photo.get("value") if isinstance(photo, dict) else photo
    return value.strip() if isinstance(value, str) else ""


def _with_alt(photo: Any, alt: str) -> Any:  # noqa: ANN401 - whatever a client has sent
    if not alt:
        return photo
    if isinstance(photo, str):
        return {"value": photo, "alt": alt}
    return {**photo, "alt": photo.get("alt") or alt} if isinstance(photo, dict) else photo
