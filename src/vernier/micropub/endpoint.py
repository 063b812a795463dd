"""The Micropub endpoint (https://www.w3.org/TR/micropub/): queries by GET, commands by POST."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asgiref.sync import sync_to_async
from django.core.exceptions import SuspiciousOperation
from django.db import OperationalError
from django.http import HttpResponse, JsonResponse

from vernier.authors.client_address import is_behind_proxy
from vernier.media.exceptions import NoSpace, UploadRefused
from vernier.media_api.errors import CHALLENGE, ApiError, insufficient_scope, invalid_request, not_found
from vernier.media_api.links import base_url
from vernier.media_api.reading import JSON, MULTIPART, URL_ENCODED, form_fields, json_object, quoted
from vernier.media_api.refusals import refusal
from vernier.media_api.sender import find_sender, form_tokens, has_token
from vernier.media_api.views import api_view
from vernier.micropub.commands import Create, Delete, Undelete, Update, form_command, json_command
from vernier.micropub.create import create
from vernier.micropub.own_posts import own_post
from vernier.micropub.queries import Query, answer
from vernier.micropub.update import update
from vernier.micropub.uploads import CREATE_SCOPES
from vernier.posts.addresses import post_url
from vernier.posts.delete import delete_post, undelete_post
from vernier.posts.exceptions import PostError, RetryKeyReused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpRequest

    from vernier.authors.models import AccessToken
    from vernier.micropub.commands import Command

_SCOPES = {Create: CREATE_SCOPES, Update: ("update",), Delete: ("delete",), Undelete: ("undelete",)}
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


@api_view("GET", "HEAD", "POST")
async def micropub(request: HttpRequest) -> HttpResponse:
    return await sync_to_async(_answer)(request)


@api_view("GET", "HEAD", "POST")
async def nothing(request: HttpRequest, rest: str) -> HttpResponse:  # noqa: ARG001 - Django's signature
    raise not_found()


def _answer(request: HttpRequest) -> HttpResponse:
    """Answer the request; whatever is wrong with it becomes an ApiError."""
    try:
        return _act(request) if request.method == "POST" else _query(request)
    except RetryKeyReused as error:
        raise ApiError(422, "key_reused", str(error)) from error
    except PostError as error:
        raise invalid_request(str(error)) from error
    except SuspiciousOperation as error:
        raise invalid_request("The query has too many parameters.") from error
    except (UploadRefused, NoSpace, OperationalError) as error:
        raise refusal(error) from error


def _query(request: HttpRequest) -> HttpResponse:
    query = Query(token=_sender(request), parameters=request.GET, base=base_url(request))
    if any("\0" in value for _, values in request.GET.lists() for value in values):
        raise invalid_request("A parameter has a NUL in it, which is no text.")
    return JsonResponse(answer(query), headers=_HEADERS)


def _act(request: HttpRequest) -> HttpResponse:
    token, command = _read(request)
    scopes = _SCOPES[type(command)]
    if token.scopes.isdisjoint(scopes):
        raise insufficient_scope(scopes[0])
    base = base_url(request)
    match command:
        case Create():
            post = create(token, command, base=base, key=request.headers.get("Idempotency-Key"))
            return _at(post_url(base, post))
        case Update():
            post, has_moved = update(token, command, base=base)
            return _at(post_url(base, post)) if has_moved else HttpResponse(status=204, headers=_HEADERS)
        case Delete():
            delete_post(token.author, own_post(token.author, command.url, base=base, deleted_too=True).pk)
        case Undelete():
            undelete_post(token.author, own_post(token.author, command.url, base=base, deleted_too=True).pk)
    return HttpResponse(status=204, headers=_HEADERS)


def _at(url: str) -> HttpResponse:
    """Answer 201 with the address in `Location` and in the body: clients read the one or the other."""
    return JsonResponse({"url": url}, status=201, headers={"Location": url, **_HEADERS})


def _read(request: HttpRequest) -> tuple[AccessToken, Command]:
    """Return who wants what. JSON is read for those only who may send it; a form may hold its token itself."""
    media_type = request.content_type
    if media_type == JSON:
        token = _sender(request)
        return token, json_command(json_object(request))
    if media_type not in {URL_ENCODED, MULTIPART}:
        _sender(request)
        received = quoted(media_type) if media_type else "missing"
        raise invalid_request(f"The Content-Type is {received}; valid are {JSON}, {URL_ENCODED} and {MULTIPART}.")
    fields = form_fields(request)
    return _sender(request, form_tokens(fields)), form_command(fields)


def _sender(request: HttpRequest, tokens: Sequence[str] = ()) -> AccessToken:
    authorization = request.headers.get("Authorization")
    if not has_token(authorization, tokens):
        raise _unauthorized(request)
    return find_sender(authorization, tokens)


def _unauthorized(request: HttpRequest) -> ApiError:
    """Name the error, as Micropub section 3.8 does; RFC 6750 asks for no name in the challenge only."""
    description = "This needs an access token, in the header Authorization or in the field access_token."
    if is_behind_proxy(request):
        description += " If one was sent, a proxy has removed it: the page /editor/self-check tells more."
    return ApiError(401, "unauthorized", description, headers={"WWW-Authenticate": CHALLENGE})
