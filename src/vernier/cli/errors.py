"""Errors as sentences for the operator."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError
from django.db import Error as DatabaseError

from vernier.media.exceptions import MediaError
from vernier.site.exceptions import VernierError

if TYPE_CHECKING:
    from django.core.checks import CheckMessage


def tell(error: Exception) -> tuple[str, int] | None:
    """Return the sentence and the exit code for an error, or None for one that is a mistake of ours."""
    match error:
        case VernierError():
            return str(error), error.exit_code
        case DatabaseError() | sqlite3.Error():
            return f"The database cannot be used: {error}.", 1
        case OSError():
            return f"{error.filename or 'The system'}: {error.strerror or error}.", 1
        case MediaError() | ImproperlyConfigured() | CommandError():
            return str(error), 1
    return None


def tell_checks(messages: list[CheckMessage]) -> str:
    """Return what system checks have found, as one text."""
    return " ".join(f"{message.msg} {message.hint or ''} ({message.id})" for message in messages)
