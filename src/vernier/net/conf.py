"""The settings of this package: one dictionary `VERNIER_NET` in Django's settings, read when it is needed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


@dataclass(frozen=True, slots=True, kw_only=True)
class NetSettings:
    """One value per key of `VERNIER_NET`; the key is the field's name in capitals."""

    # Ports that may be fetched from, besides 80 and 443.
    ports: tuple[int, ...] = ()
    # Hosts, as they stand in a URL, that may have addresses which are not public: for tests and intranets. A name
    # stands for itself and not for those below it, and an address for URLs that have it in place of a name.
    private_hosts: tuple[str, ...] = ()
    # Where somebody who finds this server in their log can read about it; part of the User-Agent.
    user_agent_url: str | None = None


def net_settings() -> NetSettings:
    """Return the settings in force; raise ImproperlyConfigured for a key that does not exist."""
    given: dict[str, Any] = getattr(settings, "VERNIER_NET", {})
    known = {field.name.upper(): field.name for field in fields(NetSettings)}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ImproperlyConfigured(f"VERNIER_NET has unknown keys {unknown}; valid are {sorted(known)}.")
    return NetSettings(**{known[key]: value for key, value in given.items()})
