"""Which of a Version's renditions a reader gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vernier.media.variants import FALLBACK, MEDIA_TYPES, PHOTO
from vernier.media_api.conf import media_api_settings
from vernier.media_api.errors import not_found
from vernier.media_api.negotiation import accepts, names

if TYPE_CHECKING:
    from vernier.media.models import Rendition, Version
    from vernier.media.variants import Variant

_AVIF = MEDIA_TYPES["avif"]


def negotiate(accept: str, version: Version) -> Rendition:
    """Return the image that the request can read: the main variant, else the fallback; raise ApiError 404.

    Where the file of the one is lost, the other serves a request that accepts it.
    """
    main, fallback = _main_and_fallback(version, _made(version))
    first, second = (main, fallback) if _prefers(accept, main) else (fallback, main)
    if first.lost_at is None:
        return first
    if second.lost_at is None and accepts(accept, second.media_type):
        return second
    raise not_found()


def equivalent(recipe: Variant, version: Version) -> Rendition:
    """Return what stands in `version` for a rendition that `recipe` made of another Version; raise ApiError 404.

    That is the one of the same variant, else the main or the fallback, whichever is of its kind.
    """
    made = _made(version)
    main, fallback = _main_and_fallback(version, made)
    by_kind = (main, fallback) if recipe.format == "avif" else (fallback, main)
    for rendition in (made.get(recipe.name), *by_kind):
        if rendition is not None and rendition.lost_at is None:
            return rendition
    raise not_found()


def _made(version: Version) -> dict[str, Rendition]:
    return {rendition.variant: rendition for rendition in version.renditions.all()}


def _main_and_fallback(version: Version, made: dict[str, Rendition]) -> tuple[Rendition, Rendition]:
    """Return the two that stand for the Version; they are the same where none is of another kind than AVIF."""
    in_order = [made[recipe.name] for recipe in version.recipes if recipe.name in made]
    if not in_order:
        raise not_found()
    main = made.get(PHOTO) or in_order[0]
    plain = (rendition for rendition in in_order if rendition.media_type != _AVIF)
    return main, made.get(FALLBACK) or next(plain, main)


def _prefers(accept: str, main: Rendition) -> bool:
    if media_api_settings().compatible and main.media_type == _AVIF:
        return names(accept, _AVIF)
    return accepts(accept, main.media_type)
