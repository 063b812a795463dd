"""The addresses of Media and renditions."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.core.exceptions import DisallowedHost

from vernier.media.variants import EXTENSIONS
from vernier.media_api.conf import media_api_settings
from vernier.media_api.errors import invalid_request, not_found

if TYPE_CHECKING:
    from django.http import HttpRequest

    from vernier.media.models import Rendition, Version
    from vernier.media.variants import Variant


def base_url(request: HttpRequest) -> str:
    """Return what every address begins with: as configured, else as the client wrote it; no slash at the end."""
    configured = media_api_settings().base_url
    if configured is not None:
        return configured.rstrip("/")
    try:
        return f"{request.scheme}://{request.get_host()}{request.META.get('SCRIPT_NAME', '')}".rstrip("/")
    except DisallowedHost as error:
        raise invalid_request("The Host header names a host that is not served here.") from error


def media_url(base: str, media_id: UUID) -> str:
    return f"{base}/media/{media_id}"


def rendition_url(base: str, version: Version, rendition: Rendition) -> str:
    return version_url(base, version, f"{rendition.variant}.{rendition.extension}")


def version_url(base: str, version: Version, file_name: str) -> str:
    return f"{media_url(base, version.media_id)}/v{version.number}/{file_name}"


def recipes_by_file_name(version: Version) -> dict[str, Variant]:
    """Return the recipes of the renditions that a Ready Version has or had, by the last part of their addresses.

    They come from the Version alone: its renditions may be gone.
    """
    has_alpha = bool(version.has_alpha)
    return {
        f"{recipe.name}.{EXTENSIONS[recipe.format_for(image_type=version.image_type, has_alpha=has_alpha)]}": recipe
        for recipe in version.required or ()
    }


def parse_media_id(text: str) -> UUID:
    """Return the id, written as in its address; raise ApiError 404 for anything else."""
    try:
        media_id = UUID(text)
    except ValueError as error:
        raise not_found() from error
    if str(media_id) != text:
        raise not_found()
    return media_id
