"""`GET /media?q=`: what an author has uploaded, as clients of Micropub ask a media endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async
from django.http import JsonResponse

from vernier.media.models import Version
from vernier.media.sniff import IMAGE_TYPES
from vernier.media_api.authentication import authenticate
from vernier.media_api.errors import invalid_request
from vernier.media_api.links import base_url, media_url
from vernier.media_api.paging import Order, requested_page
from vernier.media_api.reading import quoted
from vernier.media_api.status import STATES

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

# Whoever may do something with posts or files may list the files, unpublished ones among them. A token that only
# tells who the author is may not.
QUERY_SCOPES = ("media", "create", "update", "delete", "undelete", "draft")
_ORDER = Order(time="media__created_at", key="media_id")


async def query(request: HttpRequest) -> JsonResponse:
    """Answer `q=source` with a list, newest first, and `q=last` with the newest upload that has not failed."""
    return await sync_to_async(_query)(request)


def _query(request: HttpRequest) -> JsonResponse:
    token = authenticate(request.headers.get("Authorization"), scopes=QUERY_SCOPES)
    base = base_url(request)
    asked = request.GET.get("q", "")
    if asked == "source":
        versions, paging = requested_page(_newest(token.author_id), request.GET, order=_ORDER)
        content: dict[str, Any] = {"items": [_item(version, base) for version in versions], **paging}
    elif asked == "last":
        last = _newest(token.author_id).exclude(status=Version.Status.FAILED).first()
        content = {"url": media_url(base, last.media_id)} if last else {}
    else:
        raise invalid_request(f"The query q is {quoted(asked)}; valid are source and last.")
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return JsonResponse(content, headers=headers)


def _newest(owner_id: int) -> QuerySet[Version]:
    """Return the newest Version of each of the author's Media, with that."""
    newest = Version.objects.newest().filter(media__owner_id=owner_id, media__deleted_at=None)
    return newest.select_related("media").order_by(f"-{_ORDER.time}", f"-{_ORDER.key}")


def _item(version: Version, base: str) -> dict[str, Any]:
    size = {"width": version.width, "height": version.height} if version.width and version.height else {}
    return {
        "url": media_url(base, version.media_id),
        "published": version.accepted_at.isoformat(),
        "mime_type": IMAGE_TYPES[version.image_type].media_type,
        "state": STATES[Version.Status(version.status)],
        **size,
    }
