"""Single photos, as the script sends them: one that is new, and one that takes the place of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from vernier.editor.uploads import FILE, wants_json
from vernier.editor.views import author_of, editor_view
from vernier.media.exceptions import MediaNotFound, NoSpace, UploadRefused
from vernier.media_api.errors import ApiError, invalid_request
from vernier.media_api.links import base_url, media_url
from vernier.media_api.received import received_form
from vernier.media_api.refusals import refusal

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest, HttpResponse

    from vernier.media.record import Accepted


@require_POST
@editor_view()
def upload(request: HttpRequest) -> HttpResponse:
    """Accept a photo that belongs to no post yet; sent again with its Idempotency-Key it is the same one."""
    accepted = _accept(request, replaces=None)
    return JsonResponse(_content(request, accepted), status=201)


@require_POST
@editor_view()
def replace(request: HttpRequest, media_id: UUID) -> HttpResponse:
    """Accept a file that takes the place of the image's; until it is ready the old one is shown."""
    if wants_json(request):
        return JsonResponse(_content(request, _accept(request, replaces=media_id)), status=202)
    try:
        _accept(request, replaces=media_id)
        messages.success(request, "The new file is there. It is shown as soon as it is processed.")
    except ApiError as error:
        messages.error(request, error.description)
    return redirect("editor:image", media_id)


def _accept(request: HttpRequest, *, replaces: UUID | None) -> Accepted:
    """Accept the form's file; raise ApiError."""
    file = next((file for file in received_form(request).files if file.field == FILE), None)
    if file is None:
        raise invalid_request("No file was chosen.")
    try:
        return file.accept(
            owner=author_of(request), replaces=replaces, idempotency_key=request.headers.get("Idempotency-Key")
        )
    except (UploadRefused, MediaNotFound, NoSpace) as error:
        raise refusal(error) from error


def _content(request: HttpRequest, accepted: Accepted) -> dict[str, object]:
    url = media_url(base_url(request), accepted.media_id)
    return {"id": str(accepted.media_id), "url": url, "version": accepted.number}
