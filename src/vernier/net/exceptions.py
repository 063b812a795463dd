"""What a fetch may raise; the text of each is one sentence that names what was wrong."""

from __future__ import annotations


class FetchError(Exception):
    """The URL was not fetched."""


class FetchRefused(FetchError):  # noqa: N818 - it reads as what happened
    """Such a URL is not fetched here; trying again is of no use."""


class FetchFailed(FetchError):  # noqa: N818
    """The URL may be fetched but was not: no connection, no time, too large, or not HTTP; it may pass."""
