"""Errors as sentences for the operator."""

from __future__ import annotations

import os
import shutil
import sqlite3
from typing import TYPE_CHECKING

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError
from django.db import Error as DatabaseError

from vernier.media.exceptions import MediaError
from vernier.site.exceptions import VernierError

if TYPE_CHECKING:
    from django.core.checks import CheckMessage

# SQLite needs so much for its index of the log before it can read anything.
_SPACE_BYTES_MIN = 64 * 1024


def tell(error: Exception) -> tuple[str, int] | None:
    """Return the sentence and the exit code for an error, or None for one that is a mistake of ours."""
    match error:
        case VernierError():
            return str(error), error.exit_code
        case DatabaseError() | sqlite3.Error():
            return f"The database cannot be used: {error}.{_about_space()}", 1
        case OSError():
            return f"{error.filename or 'The system'}: {error.strerror or error}.", 1
        case MediaError() | ImproperlyConfigured() | CommandError():
            return str(error), 1
    return None


def _about_space() -> str:
    """Name the usual reason why SQLite meets an error of the disk: it does not name it itself."""
    directory = os.environ.get("VERNIER_DATA_DIR", "")
    if os.path.isdir(directory) and shutil.disk_usage(directory).free < _SPACE_BYTES_MIN:  # noqa: PTH112 - a text
        return f" The file system of {directory} is full."
    return ""


def tell_checks(messages: list[CheckMessage]) -> str:
    """Return what system checks have found, as one text."""
    return " ".join(f"{message.msg} {message.hint or ''} ({message.id})" for message in messages)
