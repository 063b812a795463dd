"""The settings of this package: one dictionary `VERNIER_NET` in Django's settings, read when it is needed."""

from __future__ import annotations

from dataclasses import dataclass

from vernier.conf import read_settings


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
    return read_settings("VERNIER_NET", NetSettings)
