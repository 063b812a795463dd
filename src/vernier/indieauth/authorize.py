"""`/indieauth/authorize`: the author's consent, and codes that only ask who the author is.

GET shows the consent page, POST of its form decides; a POST with a code comes from a client and redeems it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from asgiref.sync import sync_to_async
from django.contrib.auth.views import redirect_to_login
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from vernier.indieauth.authorization_request import REQUEST_CHARACTERS_MAX, parse_request
from vernier.indieauth.clients import client_information, may_redirect
from vernier.indieauth.codes import Approval, issue_code, redeem_for_identity
from vernier.indieauth.consent import Consent, read_consent
from vernier.indieauth.consent_page import consent_page, refusal_page
from vernier.indieauth.discovery import issuer
from vernier.indieauth.exceptions import InvalidGrant, RequestRefused
from vernier.indieauth.parameters import form, optional
from vernier.indieauth.profile import identity
from vernier.indieauth.rate_limit import guesses_limited
from vernier.indieauth.redirect import ClientRedirect
from vernier.indieauth.scopes import grantable
from vernier.indieauth.token import read_redemption
from vernier.indieauth.views import endpoint, oauth_error, private_json
from vernier.media_api.errors import ApiError
from vernier.media_api.links import base_url

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from vernier.authors.models import Author
    from vernier.indieauth.authorization_request import AuthorizationRequest
    from vernier.indieauth.models import ClientInformation

GRANT_TYPE = "authorization_code"


@csrf_exempt
async def authorize(request: HttpRequest) -> HttpResponse:
    """Hand the request to the half that it is for; the one for people checks CSRF itself."""
    try:
        is_redemption = request.method == "POST" and "code" in form(request)
    except ApiError as error:
        return error.response()
    if is_redemption or request.method == "OPTIONS":
        return await redeem(request)
    return await sync_to_async(_decide if request.method == "POST" else _ask)(request)


@endpoint("POST")
def redeem(request: HttpRequest) -> HttpResponse:
    """Answer with who the author is, and never with a token: IndieAuth section 5.3.2."""
    parameters = form(request)
    # Clients older than its requirement send none.
    if optional(parameters, "grant_type") not in {None, GRANT_TYPE}:
        raise ApiError(400, "unsupported_grant_type", f"The grant_type is not supported; valid is {GRANT_TYPE}.")
    try:
        with guesses_limited(request):
            code = redeem_for_identity(read_redemption(parameters), now=timezone.now())
    except InvalidGrant as error:
        raise oauth_error("invalid_grant", error) from error
    return private_json(identity(base_url(request), code.author, code.scope.split()))


@require_http_methods(["GET", "HEAD"])
@never_cache
@csrf_protect
def _ask(request: HttpRequest) -> HttpResponse:
    """Show the author who asks for what. Nothing is fetched, and nobody redirected, for somebody unknown."""
    try:
        asked = _read(request)
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        client = _verified_client(asked)
    except RequestRefused as error:
        return refusal_page(request, str(error))
    if asked.error is not None:
        code, description = asked.error
        return _answer(request, asked.redirect_uri, asked.state, error=code, error_description=description)
    return consent_page(request, asked, client, author=request.user)


def _read(request: HttpRequest) -> AuthorizationRequest:
    if len(request.get_full_path()) > REQUEST_CHARACTERS_MAX:
        raise RequestRefused(f"The address of the request has more than {REQUEST_CHARACTERS_MAX} characters.")
    return parse_request(request.GET)


def _verified_client(asked: AuthorizationRequest) -> ClientInformation:
    client = client_information(asked.client_id, now=timezone.now())
    if not may_redirect(client, asked.redirect_uri):
        raise RequestRefused(
            f"The app {asked.client_id} asks to be answered at {asked.redirect_uri}, which is at another place and"
            f" not among the addresses that the app publishes. {client.failure}".rstrip()
        )
    return client


@never_cache
@csrf_protect
def _decide(request: HttpRequest) -> HttpResponse:
    """Send the author back to the client with a code, or without."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    try:
        consent = read_consent(request.POST.get("consent", ""), author=request.user)
    except RequestRefused as error:
        return refusal_page(request, str(error))
    match request.POST.get("decision"):
        case "approve":
            scope = grantable(request.POST.getlist("scope"), offered=consent.scopes)
            code = _approved_code(consent, author=request.user, scope=scope)
            return _answer(request, consent.redirect_uri, consent.state, code=code)
        case "deny":
            description = "The author has denied the request."
            return _answer(
                request, consent.redirect_uri, consent.state, error="access_denied", error_description=description
            )
    return refusal_page(request, "The form says neither “approve” nor “deny”.")


def _approved_code(consent: Consent, *, author: Author, scope: str) -> str:
    approval = Approval(
        author=author,
        client_id=consent.client_id,
        client_name=consent.client_name,
        redirect_uri=consent.redirect_uri,
        scope=scope,
        code_challenge=consent.code_challenge,
    )
    return issue_code(approval, now=timezone.now())


def _answer(request: HttpRequest, redirect_uri: str, state: str | None, **parameters: str) -> HttpResponse:
    """Redirect to the client with `state` as it came, and `iss`, by which it knows who answers (RFC 9207)."""
    return ClientRedirect(redirect_uri, {**parameters, "state": state, "iss": issuer(base_url(request))})
