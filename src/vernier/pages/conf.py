"""The settings of this app: one dictionary `VERNIER_PAGES` in Django's settings, read when it is needed."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.module_loading import import_string

from vernier.conf import read_settings


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
    return read_settings("VERNIER_PAGES", PagesSettings)


def discovery_links(base: str) -> list[tuple[str, str]]:
    """Return relation and URL of every link of a profile page."""
    return [link for path in pages_settings().discovery for link in import_string(path)(base)]
