"""The setting MAILERS of Django, from the address of a mail server."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit

from vernier.site.kinds import MAIL_PORTS

# A server that does not answer holds a job up for so long; the job comes round again.
_TIMEOUT_SECONDS = 20


def mailers(url: str | None) -> dict[str, dict[str, Any]]:
    """Return the one mailer that the address stands for; without an address, one that sends nothing."""
    if url is None:
        return {"default": {"BACKEND": "django.core.mail.backends.dummy.EmailBackend"}}
    parts = urlsplit(url)
    options = {
        "host": parts.hostname,
        "port": parts.port or MAIL_PORTS[parts.scheme],
        "username": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "use_tls": parts.scheme == "smtp+starttls",
        "use_ssl": parts.scheme == "smtps",
        "timeout": _TIMEOUT_SECONDS,
    }
    return {"default": {"BACKEND": "django.core.mail.backends.smtp.EmailBackend", "OPTIONS": options}}
