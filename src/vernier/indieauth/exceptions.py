"""What a request about identities and grants may raise; the text of each is a sentence for people."""

from __future__ import annotations


class IndieAuthError(Exception):
    """A request that is not granted."""


class InvalidIdentifier(IndieAuthError):  # noqa: N818 - it reads as what is wrong
    """A URL that cannot be the address of a client or of where it waits."""


class RequestRefused(IndieAuthError):  # noqa: N818
    """An authorization request that is answered to the author alone: it is not known who would get the redirect."""


class InvalidClientDocument(IndieAuthError):  # noqa: N818
    """What a client publishes about itself is not what the specification asks for."""


class InvalidGrant(IndieAuthError):  # noqa: N818
    """A code or refresh token that does not exist, is over, or is not this client's (RFC 6749 section 5.2)."""


class Replayed(InvalidGrant):
    """A code or refresh token that was used before."""


class InvalidScope(IndieAuthError):  # noqa: N818
    """More was asked for than was granted (RFC 6749 section 5.2)."""
