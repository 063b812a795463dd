"""A form with photos, as an editor or Micropub has one: its endpoint, and views that answer what they got in JSON."""

import asyncio

from django.db import transaction
from django.http import HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from vernier.authors.models import find_token
from vernier.media.exceptions import NoSpace, UploadRefused
from vernier.media_api.errors import ApiError, invalid_token
from vernier.media_api.form_handler import FormEndpoint
from vernier.media_api.links import base_url, media_url
from vernier.media_api.received import ReceivedFile, received_form
from vernier.media_api.refusals import refusal
from vernier.site import urls as site_urls

FILES_MAX = 4


def knows_sender(request, fields):
    secret = secret_of(request, fields)
    if secret == "wrong":
        raise invalid_token()
    return find_token(secret) is not None


def secret_of(request, fields):
    _, _, secret = request.headers.get("Authorization", "").partition(" ")
    return secret or dict(fields).get("access_token", "")


def refuse(request, error):
    if request.path == "/form/page":
        return HttpResponse(f"<p>{error.description}</p>", status=error.status)
    return error.response()


ENDPOINT = FormEndpoint(
    matches=lambda path: path.startswith("/form"),
    file_fields=frozenset({"photo", "photo[]"}),
    files_max=FILES_MAX,
    authorise=knows_sender,
    refuse=refuse,
)


def take(request):
    """Accept every file that is not refused, and answer with all fields in their order."""
    try:
        form = received_form(request)
        token = find_token(secret_of(request, form.texts))
        if token is None:
            return HttpResponse(status=303, headers={"Location": "/login"})
        fields = [(name, show(request, value, token.author)) for name, value in form.fields]
    except (UploadRefused, NoSpace, ApiError) as error:
        return refusal(error).response()
    return JsonResponse({"fields": fields, "post": dict(request.POST.lists()), "files": len(request.FILES)})


def show(request, value, author):
    if not isinstance(value, ReceivedFile):
        return value
    shown = {"field": value.field, "filename": value.filename, "bytes": value.byte_size, "sha256": value.sha256}
    if value.refusal is not None:
        error = refusal(value.refusal)
        return {**shown, "refused": error.status, "why": error.description}
    return {**shown, "url": media_url(base_url(request), value.accept(owner=author).media_id)}


@csrf_exempt
def form(request):
    return take(request)


@csrf_exempt
def refused_form(request):
    """Accept nothing, as a view that has found a fault in the text."""
    return JsonResponse({"files": len(received_form(request).files)}, status=422)


@csrf_exempt
def hasty_form(request):
    """Accept within a transaction, which must not be done."""
    with transaction.atomic():
        return take(request)


@csrf_exempt
async def endless_form(request):
    """Answer nothing, as a view that waits for something."""
    await asyncio.get_running_loop().create_future()


def csrf_form(request):
    if request.method == "GET":
        return JsonResponse({"token": get_token(request)})
    return take(request)


urlpatterns = [
    path("form", form),
    path("form/page", form),
    path("form/refused", refused_form),
    path("form/hasty", hasty_form),
    path("form/endless", endless_form),
    path("form/csrf", csrf_form),
    *site_urls.urlpatterns,
]
handler404 = site_urls.handler404
handler500 = site_urls.handler500
