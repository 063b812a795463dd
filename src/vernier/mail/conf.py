"""The settings of this app: one dictionary `VERNIER_MAIL` in Django's settings, read when it is needed."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from vernier.conf import read_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSettings:
    """One value per key of `VERNIER_MAIL`; the key is the field's name in capitals."""

    # Whether there is a mail server. Without one nothing is stored, and nothing is said to have been sent.
    enabled: bool = False
    # The address of the site, without a slash at the end: mail has links to it.
    site_url: str = "http://localhost"
    # The queue of the task engine for what talks to the mail server. One with a worker of its own lets a server that
    # hangs hold nothing else up.
    queue: str = "default"

    @property
    def site_host(self) -> str:
        return urlsplit(self.site_url).hostname or "localhost"


def mail_settings() -> MailSettings:
    """Return the settings in force; raise ImproperlyConfigured for a key that does not exist."""
    return read_settings("VERNIER_MAIL", MailSettings)
