"""The page on which an author decides, and the one that says why there is nothing to decide."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings
from django.shortcuts import render
from django.utils.csp import CSP

from vernier.indieauth.consent import Consent, sign_consent
from vernier.indieauth.identifiers import DEFAULT_PORTS, is_loopback, origin
from vernier.indieauth.profile import me_url
from vernier.indieauth.scopes import SENTENCES
from vernier.media_api.links import base_url

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from vernier.authors.models import Author
    from vernier.indieauth.authorization_request import AuthorizationRequest
    from vernier.indieauth.models import ClientInformation


def consent_page(
    request: HttpRequest, asked: AuthorizationRequest, client: ClientInformation, *, author: Author
) -> HttpResponse:
    """Show who asks for what, and where the answer goes."""
    consent = Consent(
        author_id=author.pk,
        client_id=asked.client_id,
        client_name=client.name,
        redirect_uri=asked.redirect_uri,
        state=asked.state,
        scopes=list(asked.scope.known),
        code_challenge=asked.code_challenge,
    )
    context = {
        "client": client,
        "redirect_uri": asked.redirect_uri,
        "scopes": [(name, SENTENCES[name]) for name in asked.scope.known],
        "unknown_scopes": asked.scope.unknown,
        "me": me_url(base_url(request), author),
        "warnings": _warnings(asked, client),
        "consent": sign_consent(consent),
    }
    response = render(request, "vernier/indieauth/consent.html", context)
    response._csp_config = _policy(asked.redirect_uri)  # type: ignore[attr-defined]  # noqa: SLF001 - as csp_override does
    return response


def refusal_page(request: HttpRequest, reason: str) -> HttpResponse:
    """Say to the author, and not to the client, why the request is not answered."""
    return render(request, "vernier/indieauth/refusal.html", {"reason": reason}, status=400)


def _warnings(asked: AuthorizationRequest, client: ClientInformation) -> list[str]:
    """Name what an author should look at twice."""
    warnings = []
    if client.failure:
        warnings.append(f"Nothing is known about this app except its address: {client.failure}")
    if is_loopback(client.client_id):
        warnings.append("The app says that it runs on your own computer. Go on only if you have started it there.")
    elif origin(asked.redirect_uri) != origin(client.client_id):
        warnings.append("The answer does not go to the address of the app itself, but to one that the app publishes.")
    if client.client_uri and _host(client.client_uri) != _host(client.client_id):
        warnings.append(f"The app names {client.client_uri} as its home, which is on another host than the app.")
    return warnings


def _policy(redirect_uri: str) -> dict[str, object]:
    """Return the site's policy, and let the form's answer redirect to the client.

    Browsers hold every redirect that follows a form against form-action, those of the client as well, and these may
    lead anywhere: a sign-in service returns the author to the site that uses it. The form itself goes to this site.
    """
    scheme = urlsplit(redirect_uri).scheme
    schemes = [f"{name}:" for name in DEFAULT_PORTS] if scheme in DEFAULT_PORTS else [f"{scheme}:"]
    return {**settings.SECURE_CSP, "form-action": [CSP.SELF, *schemes]}


def _host(url: str) -> str | None:
    return urlsplit(url).hostname
