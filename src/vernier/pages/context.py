"""What every template knows of the site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vernier.media_api.links import base_url
from vernier.pages.conf import pages_settings

if TYPE_CHECKING:
    from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, Any]:
    """Return the site's name, language and address, for templates."""
    conf = pages_settings()
    return {"site": {"title": conf.title, "language": conf.language, "base_url": base_url(request)}}
