"""`GET /media/{id}/status`: how far an upload is, for its owner."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from django.http import HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.cache import get_conditional_response

from vernier.media.models import Version
from vernier.media_api.authentication import authenticate
from vernier.media_api.errors import invalid_request, not_found
from vernier.media_api.links import base_url, media_url, parse_media_id, rendition_url
from vernier.media_api.views import api_view
from vernier.media_api.waiting import wait_for

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest

    from vernier.media.models import Rendition

# Below the 60 s after which common proxies give up.
WAIT_SECONDS_MAX = 30

# An author knows three states: what waits and what is worked on look the same.
STATES = {
    Version.Status.PENDING: "processing",
    Version.Status.PROCESSING: "processing",
    Version.Status.READY: "ready",
    Version.Status.SUPERSEDED: "ready",
    Version.Status.FAILED: "failed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Status:
    """A status as it is sent, and what tells it from another."""

    response: JsonResponse
    etag: str
    is_final: bool


@api_view("GET", "HEAD")
async def status(request: HttpRequest, media_id: str) -> HttpResponse:
    """Answer with the state of the newest Version; with `?wait=N`, when it has changed or after N seconds."""
    seconds = _wait_seconds(request)
    known_id = parse_media_id(media_id)
    seen: list[str] = []

    def is_news(found: _Status) -> bool:
        seen.append(found.etag)
        return found.is_final or found.etag != seen[0] or _differs_from_clients(request, found)

    found = await wait_for(partial(_look, request, known_id), until=is_news, seconds=seconds)
    return get_conditional_response(request, found.etag, response=found.response) or found.response


def _wait_seconds(request: HttpRequest) -> int:
    text = request.GET.get("wait", "0")
    if not re.fullmatch(r"\d{1,2}", text, re.ASCII) or int(text) > WAIT_SECONDS_MAX:
        raise invalid_request(f"The parameter wait is a whole number of seconds, 0 to {WAIT_SECONDS_MAX}.")
    return int(text)


def _differs_from_clients(request: HttpRequest, found: _Status) -> bool:
    """Tell whether the client named what it has seen (If-None-Match), and that is no longer so."""
    known = request.headers.get("If-None-Match")
    return known is not None and found.etag not in known


def _look(request: HttpRequest, media_id: UUID) -> _Status:
    version = (
        Version.objects.newest()
        .select_related("media__current")
        .filter(media_id=media_id, media__deleted_at=None, media__owner_id=_viewer_id(request))
        .first()
    )
    if version is None:
        raise not_found()
    return _status(version, base_url(request))


def _viewer_id(request: HttpRequest) -> int:
    """Return who asks: the owner of the token, else of the session; raise ApiError 404 for nobody."""
    authorization = request.headers.get("Authorization")
    if authorization is not None:
        return authenticate(authorization).author_id
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        raise not_found()
    return int(user.pk)


def _status(version: Version, base: str) -> _Status:
    state = STATES[Version.Status(version.status)]
    content = {
        "url": media_url(base, version.media_id),
        "state": state,
        "version": version.number,
        "serving_version": version.media.current.number if version.media.current else None,
        "attempts": version.attempts,
        "accepted_at": version.accepted_at,
        "next_attempt_at": version.next_attempt_at,
        "renditions": _renditions(version, base),
        "failure": _failure(version),
    }
    response = JsonResponse(content, headers={"Cache-Control": "private, no-cache"})
    etag = f'"{hashlib.sha256(response.content).hexdigest()}"'
    response.headers["ETag"] = etag
    response.headers["Vary"] = "Authorization, Cookie"
    response.headers["X-Content-Type-Options"] = "nosniff"
    if state == "processing":
        response.headers["Retry-After"] = str(_retry_after_seconds(version))
    return _Status(response=response, etag=etag, is_final=state != "processing")


def _renditions(version: Version, base: str) -> dict[str, dict[str, Any]]:
    """List every required variant; before the original was decoded, those that are required of any image."""
    made = {rendition.variant: rendition for rendition in version.renditions.all()}
    required = version.required
    if required is None:
        required = tuple(recipe for recipe in version.recipes if not recipe.narrower)
    return {recipe.name: _rendition(version, made.get(recipe.name), base) for recipe in required}


def _rendition(version: Version, rendition: Rendition | None, base: str) -> dict[str, Any]:
    if rendition is None:
        return {"state": "missing"}
    if rendition.lost_at is not None:
        return {"state": "lost"}
    served = version.status == Version.Status.READY
    url = {"url": rendition_url(base, version, rendition)} if served else {}
    return {"state": "ready", **url, "width": rendition.width, "height": rendition.height}


def _failure(version: Version) -> dict[str, str] | None:
    if version.status != Version.Status.FAILED:
        return None
    return {"code": version.failure_code, "message": version.get_failure_code_display()}


def _retry_after_seconds(version: Version) -> int:
    if version.next_attempt_at is None:
        return 1
    return max(1, math.ceil((version.next_attempt_at - timezone.now()).total_seconds()))
