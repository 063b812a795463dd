"""A client metadata document: JSON at the client_id (IndieAuth section 4.2.1)."""

from __future__ import annotations

import json
from typing import Any

from vernier.indieauth.description import Description, clean_name, clean_redirect_uris, clean_url
from vernier.indieauth.exceptions import InvalidClientDocument, InvalidIdentifier
from vernier.indieauth.identifiers import canonical, parse_client_id


def read_client_document(body: bytes, *, client_id: str, base: str) -> Description:
    """Return what the document says; raise InvalidClientDocument unless it is about this client."""
    document = _parse(body)
    if _named_client(document) != client_id:
        raise InvalidClientDocument("The document at the client_id names another client_id, or none.")
    return Description(
        name=clean_name(_text(document, "client_name")),
        logo_url=clean_url(_text(document, "logo_uri"), base=base),
        client_uri=_client_uri(document, client_id=client_id),
        redirect_uris=clean_redirect_uris(_texts(document, "redirect_uris"), base=base),
    )


def _parse(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidClientDocument("The document at the client_id is not valid JSON.") from error
    if not isinstance(document, dict):
        raise InvalidClientDocument("The document at the client_id is not a JSON object.")
    return document


def _named_client(document: dict[str, Any]) -> str:
    try:
        return parse_client_id(_text(document, "client_id"))
    except InvalidIdentifier:
        return ""


def _client_uri(document: dict[str, Any], *, client_id: str) -> str:
    """Return the address of the app's page, which the client_id must begin with."""
    text = _text(document, "client_uri")
    uri = canonical(clean_url(text, base=client_id))
    if uri and not client_id.startswith(uri):
        raise InvalidClientDocument(
            f"The client_id does not begin with the client_uri that its document names: {uri}."
        )
    return uri


def _text(document: dict[str, Any], name: str) -> str:
    value = document.get(name)
    return value if isinstance(value, str) else ""


def _texts(document: dict[str, Any], name: str) -> list[str]:
    value = document.get(name)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
