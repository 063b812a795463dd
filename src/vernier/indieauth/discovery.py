"""Where the server of an author's identity is: IndieAuth section 4.1."""

from __future__ import annotations

METADATA_PATH = "/indieauth/metadata"
AUTHORIZATION_PATH = "/indieauth/authorize"
TOKEN_PATH = "/indieauth/token"  # noqa: S105 - an address
INTROSPECTION_PATH = "/indieauth/introspect"
REVOCATION_PATH = "/indieauth/revoke"
USERINFO_PATH = "/indieauth/userinfo"


def discovery_links(base: str) -> list[tuple[str, str]]:
    """Return relation and URL of each link of a profile page; the last two are for clients older than the first."""
    return [
        ("indieauth-metadata", base + METADATA_PATH),
        ("authorization_endpoint", base + AUTHORIZATION_PATH),
        ("token_endpoint", base + TOKEN_PATH),
    ]


def issuer(base: str) -> str:
    """Return the issuer: a prefix of the metadata's URL, and the same in every `iss` (RFC 9207)."""
    return f"{base}/"
