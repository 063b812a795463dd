"""The settings of this app: one dictionary `VERNIER_MEDIA_API` in Django's settings, read when it is needed."""

from __future__ import annotations

from dataclasses import dataclass

from vernier.conf import read_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaApiSettings:
    """One value per key of `VERNIER_MEDIA_API`; the key is the field's name in capitals."""

    # What the URLs in answers begin with, such as "https://example.org"; None takes it from each request.
    base_url: str | None = None
    # How long a GET of a Media that is still being processed is held before its 404.
    wait_seconds: float = 0
    # Whether a request with its token in the header and in a form is refused, as RFC 6750 section 2 wants it. Some
    # clients send it twice.
    strict: bool = False
    # Send AVIF only to requests that name it in Accept: some software says */* and cannot read AVIF.
    compatible: bool = False
    # A body may stall for this long in all, and beyond that must arrive at the rate below: a phone that changes
    # from one network to another is silent for 10 to 20 seconds, an attacker with idle connections for ever.
    body_grace_seconds: float = 20
    body_rate_min_bytes: float = 1024
    # The longest that one upload may take: 20 MiB at 24 kB/s, a poor mobile connection. Shorter than the grace
    # after which staged files without a row are swept.
    body_total_seconds: float = 900
    # Where `purge.purge` asks the cache in front of the site to forget an address: a URL in which `{url}` stands for
    # that address, percent-encoded; and with which method.
    purge_url: str | None = None
    purge_method: str = "PURGE"


def media_api_settings() -> MediaApiSettings:
    """Return the settings in force; raise ImproperlyConfigured for a key that does not exist."""
    return read_settings("VERNIER_MEDIA_API", MediaApiSettings)
