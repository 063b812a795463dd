"""The settings of this app: one dictionary `VERNIER_PAGES` in Django's settings, read when it is needed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesSettings:
    """One value per key of `VERNIER_PAGES`; the key is the field's name in capitals."""

    # The name of the site, and the language that it is written in (BCP 47).
    title: str = "Vernier"
    language: str = "en"
    # What profile pages link so that programs find their servers: dotted paths of functions that take the site's
    # address and return relations and URLs.
    discovery: tuple[str, ...] = ()


def pages_settings() -> PagesSettings:
    """Return the settings in force; raise ImproperlyConfigured for a key that does not exist."""
    given: dict[str, Any] = getattr(settings, "VERNIER_PAGES", {})
    known = {field.name.upper(): field.name for field in fields(PagesSettings)}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ImproperlyConfigured(f"VERNIER_PAGES has unknown keys {unknown}; valid are {sorted(known)}.")
    return PagesSettings(**{known[key]: value for key, value in given.items()})


def discovery_links(base: str) -> list[tuple[str, str]]:
    """Return relation and URL of every link of a profile page."""
    return [link for path in pages_settings().discovery for link in import_string(path)(base)]
