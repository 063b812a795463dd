"""Back to the client, with what it asked for or why not: RFC 6749 section 4.1.2."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from django.http import HttpResponseRedirect

if TYPE_CHECKING:
    from collections.abc import Mapping


class ClientRedirect(HttpResponseRedirect):
    """A redirect to an address that was checked to be the client's, which may have a scheme of its own."""

    def __init__(self, redirect_uri: str, parameters: Mapping[str, str | None]) -> None:
        self.allowed_schemes = [urlsplit(redirect_uri).scheme]
        super().__init__(with_parameters(redirect_uri, parameters), headers={"Cache-Control": "no-store"})


def with_parameters(redirect_uri: str, parameters: Mapping[str, str | None]) -> str:
    """Return the URL with those parameters that are not None after its own query, which stays as it is."""
    added = urlencode({name: value for name, value in parameters.items() if value is not None})
    if "?" not in redirect_uri:
        return f"{redirect_uri}?{added}"
    return f"{redirect_uri}{added}" if redirect_uri.endswith(("?", "&")) else f"{redirect_uri}&{added}"
