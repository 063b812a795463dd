"""The settings of this app: one dictionary `VERNIER_MICROPUB` in Django's settings, read when it is needed."""

from __future__ import annotations

from dataclasses import dataclass

from vernier.conf import read_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class MicropubSettings:
    """One value per key of `VERNIER_MICROPUB`; the key is the field's name in capitals."""

    # Hosts from which a post's photos are copied; photos elsewhere are linked.
    photo_hosts: tuple[str, ...] = ()
    # The queue of the task engine for copies: what waits for other servers must not hold images up.
    queue: str = "default"


def micropub_settings() -> MicropubSettings:
    """Return the settings in force; raise ImproperlyConfigured for a key that does not exist."""
    return read_settings("VERNIER_MICROPUB", MicropubSettings)
