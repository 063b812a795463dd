"""`/editor/self-check`: whether access tokens arrive here, or are removed by a server in front of this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.decorators import login_required
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from vernier.authors.client_address import PROXY_HEADERS, is_behind_proxy
from vernier.media_api.links import base_url
from vernier.micropub.uploads import MICROPUB_PATH

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

_SHOWN_HEADERS = ("Host", *PROXY_HEADERS)


@never_cache
@login_required
@require_safe
def self_check(request: HttpRequest) -> HttpResponse:
    """Show what this server saw of the request, and how to find out what becomes of a token."""
    base = base_url(request)
    context = {
        "base": base,
        "endpoint": base + MICROPUB_PATH,
        "seen": [(name, request.headers.get(name)) for name in _SHOWN_HEADERS],
        "is_behind_proxy": is_behind_proxy(request),
    }
    return render(request, "vernier/self_check.html", context)
