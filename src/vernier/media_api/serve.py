"""Renditions over HTTP: the current one at the Media's own address, and each at its versioned address."""

from __future__ import annotations

import logging
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

from asgiref.sync import sync_to_async
from django.http import HttpResponse, HttpResponseRedirect
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header, http_date

from vernier.media.models import Media, Rendition, Version
from vernier.media.storages import renditions_storage
from vernier.media_api.choice import equivalent, negotiate
from vernier.media_api.conf import media_api_settings
from vernier.media_api.errors import ApiError, not_found
from vernier.media_api.links import base_url, parse_media_id, recipes_by_file_name, rendition_url
from vernier.media_api.ranges import ByteRange, requested_range
from vernier.media_api.views import api_view
from vernier.media_api.waiting import wait_for

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest

    from vernier.media.transitions import VersionQuerySet

logger = logging.getLogger("vernier.media_api")

# Kept by caches and asked for each time, so that a replacement shows at once.
REVALIDATED = "public, no-cache"
# A versioned address never changes its bytes: a year is what RFC 9111 section 5.3 suggests as the longest.
IMMUTABLE = "public, max-age=31536000, immutable"
_SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    # Opened as a document, an image runs nothing.
    "Content-Security-Policy": "default-src 'none'; sandbox",
    # Feed readers and other sites show these images in their own pages.
    "Cross-Origin-Resource-Policy": "cross-origin",
}


async def current(request: HttpRequest, media_id: str) -> HttpResponse:
    """Serve the current Version's image, in a format that the request accepts; 404 until there is one."""
    known_id = parse_media_id(media_id)
    seconds = media_api_settings().wait_seconds
    if seconds > 0:
        await wait_for(partial(_is_coming, known_id), until=lambda is_coming: not is_coming, seconds=seconds)
    return await sync_to_async(_serve_current)(request, known_id)


@api_view("GET", "HEAD")
async def versioned(request: HttpRequest, media_id: str, number: str, file_name: str) -> HttpResponse:
    """Serve one rendition, immutable for a year; 404 if there is none."""
    return await sync_to_async(_serve_versioned)(request, parse_media_id(media_id), int(number), file_name)


def _is_coming(media_id: UUID) -> bool:
    """Tell whether there is nothing to serve yet and work on it that has not ended."""
    unfinished = Version.objects.unfinished()
    return unfinished.filter(media_id=media_id, media__deleted_at=None, media__current=None).exists()


def _serve_current(request: HttpRequest, media_id: UUID) -> HttpResponse:
    media = Media.objects.live().select_related("current").filter(pk=media_id).first()
    version = media.current if media else None
    if version is None:
        raise not_found()
    rendition = negotiate(request.headers.get("Accept", ""), version)
    headers = {"Cache-Control": REVALIDATED, "Vary": "Accept"}
    return _serve(request, version, rendition, headers)


def _serve_versioned(request: HttpRequest, media_id: UUID, number: int, file_name: str) -> HttpResponse:
    """Resolve the address through the row, which names the file wherever it is."""
    variant, _, extension = file_name.rpartition(".")
    served = _served(media_id, number)
    rendition = Rendition.objects.select_related("version").filter(version__in=served, variant=variant).first()
    if rendition is None:
        return _redirect(request, served, file_name)
    if rendition.extension != extension or rendition.lost_at is not None:
        raise not_found()
    return _serve(request, rendition.version, rendition, {"Cache-Control": IMMUTABLE})


def _served(media_id: UUID, number: int) -> VersionQuerySet:
    """Return the Version if it is or was served.

    One that was superseded before it was Ready may have renditions too; they never are.
    """
    return Version.objects.filter(
        media_id=media_id,
        media__deleted_at=None,
        number=number,
        status__in=(Version.Status.READY, Version.Status.SUPERSEDED),
        ready_at__isnull=False,
    )


def _redirect(request: HttpRequest, served: VersionQuerySet, file_name: str) -> HttpResponse:
    """Send the reader of a rendition that was cleaned up to what has its place now: feeds remember addresses."""
    version = served.filter(status=Version.Status.SUPERSEDED).select_related("media__current").first()
    recipe = recipes_by_file_name(version).get(file_name) if version else None
    current = version.media.current if version else None
    if recipe is None or current is None:
        raise not_found()
    location = rendition_url(base_url(request), current, equivalent(recipe, current))
    # 302 is what the oldest feed readers follow, and only GET and HEAD come here, which it does not change. It holds
    # until the next replacement, so nobody is to keep it.
    return HttpResponseRedirect(location, headers={"Cache-Control": "no-store"})


def _serve(request: HttpRequest, version: Version, rendition: Rendition, headers: dict[str, str]) -> HttpResponse:
    """Answer with the file, or that the reader has it already: RFC 9110 section 13.2.2."""
    response = HttpResponse(content_type=rendition.media_type, headers={**_SECURITY_HEADERS, **headers})
    etag = f'"{rendition.sha256}"'
    modified = int((version.ready_at or rendition.created_at).timestamp())
    response.headers["ETag"] = etag
    response.headers["Last-Modified"] = http_date(modified)
    conditional = get_conditional_response(request, etag, modified, response)
    if conditional is not None and conditional is not response:
        return _check_precondition(conditional)
    response.headers["Accept-Ranges"] = "bytes"
    response.headers["Content-Disposition"] = _disposition(version, rendition)
    return _fill(request, response, version, rendition)


def _check_precondition(conditional: HttpResponse) -> HttpResponse:
    """Return Django's 304; raise its 412, which has no words, as ApiError."""
    if conditional.status_code == HTTPStatus.PRECONDITION_FAILED:
        raise ApiError(412, "precondition_failed", "The image is no longer the one that the request names.")
    return conditional


def _disposition(version: Version, rendition: Rendition) -> str:
    """RFC 6266, with a name of ours: the client's own file name is never kept."""
    file_name = f"{version.media_id}-v{version.number}-{rendition.variant}.{rendition.extension}"
    return content_disposition_header(False, file_name) or "inline"


def _fill(request: HttpRequest, response: HttpResponse, version: Version, rendition: Rendition) -> HttpResponse:
    size = rendition.byte_size
    part = _part(request, response.headers["ETag"], size)
    wanted = part or ByteRange(start=0, stop=size)
    if request.method == "HEAD":
        _check_present(version, rendition)
    else:
        response.content = _read(version, rendition, wanted)
    response.headers["Content-Length"] = str(wanted.stop - wanted.start)
    if part is not None:
        response.status_code = 206
        response.headers["Content-Range"] = part.content_range(size)
    return response


def _part(request: HttpRequest, etag: str, size: int) -> ByteRange | None:
    """Return the one range that is asked for: of a GET, and if If-Range names these very bytes (section 13.1.5)."""
    if request.method != "GET" or request.headers.get("If-Range", etag) != etag:
        return None
    return requested_range(request.headers.get("Range", ""), size)


def _check_present(version: Version, rendition: Rendition) -> None:
    if not renditions_storage().exists(rendition.storage_key):
        raise _lost(version, rendition)


def _read(version: Version, rendition: Rendition, wanted: ByteRange) -> bytes:
    """Return the bytes, in memory: a rendition is small, and a row of the database has no other way."""
    try:
        with renditions_storage().open(rendition.storage_key) as stored:
            stored.seek(wanted.start)
            content: bytes = stored.read(wanted.stop - wanted.start)
    except FileNotFoundError as error:
        raise _lost(version, rendition) from error
    if len(content) != wanted.stop - wanted.start:
        raise _lost(version, rendition)
    return content


def _lost(version: Version, rendition: Rendition) -> ApiError:
    # A clean-up may have been faster than this reader: it removes the row first.
    if Rendition.objects.filter(pk=rendition.pk).exists():
        logger.error(
            "The file of a rendition is missing or too short: media=%s version=%d variant=%s",
            version.media_id,
            version.number,
            rendition.variant,
            extra={"event": "rendition_lost", "media": str(version.media_id), "version": version.number},
        )
    return not_found()
