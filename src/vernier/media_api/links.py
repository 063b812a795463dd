"""The addresses of Media and renditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import DisallowedHost

from vernier.media_api.conf import media_api_settings
from vernier.media_api.errors import invalid_request

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest

    from vernier.media.models import Rendition, Version


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
    file_name = f"{rendition.variant}.{rendition.extension}"
    return f"{media_url(base, version.media_id)}/v{version.number}/{file_name}"
