"""What is known of a client, and where it may be redirected to: IndieAuth sections 4.2 and 5.2."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from vernier.indieauth.client_document import read_client_document
from vernier.indieauth.client_page import read_client_page
from vernier.indieauth.description import Description
from vernier.indieauth.exceptions import InvalidClientDocument
from vernier.indieauth.identifiers import canonical, is_loopback, origin
from vernier.indieauth.models import ClientInformation
from vernier.net.fetch import FetchError, Limits, fetch

if TYPE_CHECKING:
    from datetime import datetime

    from vernier.net.fetch import Fetched

# The author waits for it with the consent page.
FETCH_LIMITS = Limits(seconds=5, bytes_max=1024 * 1024, redirects_max=5)
ACCEPT = "application/json, text/html;q=0.9, */*;q=0.1"
# One sign-in asks twice at most. A developer who has added a redirect URI wants to see it work.
KNOWN_LIFE = timedelta(minutes=10)
FAILED_LIFE = timedelta(minutes=1)
# More than an author ever uses; older ones are forgotten.
CLIENTS_MAX = 200
JSON_TYPES = frozenset({"application/json", "text/json"})
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_STATUS_OK = 200
_FAILURE_CHARACTERS_MAX = 500


def client_information(client_id: str, *, now: datetime) -> ClientInformation:
    """Return what the client publishes, from memory if it is recent; `failure` says why nothing is known.

    A loopback address means the author's own machine, not this one, and is never fetched.
    """
    if is_loopback(client_id):
        return ClientInformation(client_id=client_id, fetched_at=now, expires_at=now)
    known = ClientInformation.objects.filter(client_id=client_id, fetched_at__lte=now, expires_at__gt=now).first()
    return known or _remember(client_id, now=now)


def may_redirect(client: ClientInformation, redirect_uri: str) -> bool:
    """Tell whether the client may be redirected there: to where it is itself, or to where it says."""
    wanted = origin(redirect_uri)
    if wanted is not None and wanted == origin(client.client_id):
        return True
    if is_loopback(client.client_id) and is_loopback(redirect_uri):
        # A program takes the port that is free: RFC 8252 section 7.3.
        return True
    return canonical(redirect_uri) in client.redirect_uris


def _remember(client_id: str, *, now: datetime) -> ClientInformation:
    try:
        description, failure = _describe(client_id), ""
    except (FetchError, InvalidClientDocument) as error:
        description, failure = Description(), str(error)[:_FAILURE_CHARACTERS_MAX]
    client, _ = ClientInformation.objects.update_or_create(
        client_id=client_id,
        defaults={
            "name": description.name,
            "logo_url": description.logo_url,
            "client_uri": description.client_uri,
            "redirect_uris": list(description.redirect_uris),
            "failure": failure,
            "fetched_at": now,
            "expires_at": now + (FAILED_LIFE if failure else KNOWN_LIFE),
        },
    )
    _forget_oldest()
    return client


def _describe(client_id: str) -> Description:
    """Fetch once: the answer's type tells a document from a page."""
    fetched = fetch(client_id, headers={"Accept": ACCEPT}, limits=FETCH_LIMITS)
    if fetched.status != _STATUS_OK:
        raise InvalidClientDocument(f"The server of the client_id answered with status {fetched.status}.")
    if fetched.content_type in JSON_TYPES or fetched.content_type.endswith("+json"):
        return read_client_document(fetched.body, client_id=client_id, base=fetched.url)
    links = fetched.headers.getlist("Link")
    return read_client_page(_text(fetched), link_headers=links, base=fetched.url)


def _text(fetched: Fetched) -> str:
    """Return the page; of anything that is not HTML the headers alone count. Names need no other charset today."""
    return fetched.body.decode(errors="replace") if fetched.content_type in HTML_TYPES else ""


def _forget_oldest() -> None:
    if ClientInformation.objects.count() > CLIENTS_MAX:
        kept = ClientInformation.objects.order_by("-fetched_at", "-pk").values_list("pk", flat=True)[:CLIENTS_MAX]
        ClientInformation.objects.exclude(pk__in=list(kept)).delete()
