"""The settings of an app: one dictionary in Django's settings, read when it is needed."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def read_settings[T: DataclassInstance](name: str, kind: type[T]) -> T:
    """Return the dictionary of this name as an object of `kind`, whose fields have the names of its keys.

    The keys are in capitals; what is not given has its default. Raises ImproperlyConfigured for a key that does not
    exist.
    """
    given: dict[str, Any] = getattr(settings, name, {})
    known = {field.name.upper(): field.name for field in fields(kind)}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ImproperlyConfigured(f"{name} has unknown keys {unknown}; valid are {sorted(known)}.")
    return kind(**{known[key]: value for key, value in given.items()})
