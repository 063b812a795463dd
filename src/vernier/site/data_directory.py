"""The data directory: where everything is that a site must not lose, and what is made in it on first use."""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from vernier.site.exceptions import DataDirectoryError

if TYPE_CHECKING:
    from pathlib import Path

DATABASE = "vernier.db"
STAGING = "staging"
# Heartbeats and addresses of the processes that run; worth nothing after a restart.
RUN = "run"
BACKUPS = "backups"
# Held by who migrates or replaces the database; by `serve`; and by whichever process keeps house.
MIGRATE_LOCK = "migrate.lock"
SERVE_LOCK = "serve.lock"
HOUSEKEEPING_LOCK = "housekeeping.lock"
SECRET_KEY = "secret-key"  # noqa: S105 - the name of a file

# The name of a file on its way ends so.
_PART_SUFFIX = ".part"
# The owner's alone: sessions, tokens' hashes and unpublished images are in there.
_DIRECTORY_MODE = 0o700
_FILE_MODE = 0o600
# 384 random bits; Django asks for at least 50 characters.
_SECRET_KEY_BYTES = 48
# Of those that are given, too: below this, sessions could be forged.
SECRET_KEY_LENGTH_MIN = 32


# What is so of the whole directory, whichever file met it.
_OF_DIRECTORY = {errno.EROFS, errno.ENOSPC, errno.EDQUOT}


def make_data_directory(directory: Path) -> None:
    """Make the directory and its parts where they are missing; raise DataDirectoryError if that is not possible."""
    try:
        directory.mkdir(mode=_DIRECTORY_MODE, parents=True, exist_ok=True)
        for name in (STAGING, RUN):
            (directory / name).mkdir(mode=_DIRECTORY_MODE, exist_ok=True)
    except OSError as error:
        raise as_data_directory_error(error, directory) from error


def new_backup(directory: Path, *, label: str = "") -> Path:
    """Return a name for a copy of the database, after the time and the label; make the directory for it."""
    backups = directory / BACKUPS
    backups.mkdir(mode=_DIRECTORY_MODE, exist_ok=True)
    return backups / f"{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}-{label}{DATABASE}"


def require_writable(directory: Path) -> None:
    """Raise DataDirectoryError unless files can be made in the directory and its parts, and its database be written.

    Nothing is written into it: a server on a full disk still serves what it has, and refuses uploads.
    """
    try:
        for part in (directory, directory / RUN, directory / STAGING):
            probe = part / f"probe-{os.getpid()}{_PART_SUFFIX}"
            probe.touch()
            probe.unlink()
        database = directory / DATABASE
        if database.exists() and not os.access(database, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(database))
    except OSError as error:
        raise as_data_directory_error(error, directory) from error


def secret_key(directory: Path) -> str:
    """Return the site's secret key, made on first use; raise DataDirectoryError where it cannot be kept."""
    file = directory / SECRET_KEY
    try:
        if not file.exists():
            make_data_directory(directory)
            _write_once(file, secrets.token_urlsafe(_SECRET_KEY_BYTES))
        key = file.read_text(encoding="ascii").strip()
    except OSError as error:
        raise as_data_directory_error(error, directory) from error
    except UnicodeDecodeError:
        key = ""
    if len(key) < SECRET_KEY_LENGTH_MIN or not key.isprintable():
        raise DataDirectoryError(
            f"The secret key in {file} is damaged or too short; remove the file to have a new one made. "
            "Everybody has to sign in again then."
        )
    return key


def as_data_directory_error(error: OSError, directory: Path) -> DataDirectoryError:
    """Return the sentence for what the operating system said about the data directory."""
    reasons = {
        errno.EROFS: "its file system is read-only",
        errno.EACCES: "this user has no permission to write there",
        errno.EPERM: "this user has no permission to write there",
        errno.ENOSPC: "its file system is full",
        errno.EDQUOT: "the quota of this user is used up",
        errno.ENOTDIR: "a part of its path is not a directory",
        errno.EEXIST: "there is a file of that name",
    }
    reason = reasons.get(error.errno or 0, error.strerror or str(error))
    culprit = str(error.filename or directory)
    if culprit.endswith(_PART_SUFFIX):
        # One of ours on its way: what is in the way is the directory.
        culprit = os.path.dirname(culprit)  # noqa: PTH120 - a text
    where = "" if culprit == str(directory) or error.errno in _OF_DIRECTORY else f" ({culprit})"
    return DataDirectoryError(f"The data directory {directory} cannot be used: {reason}{where}.")


def _write_once(file: Path, content: str) -> None:
    """Write a file that either exists whole and durable or not at all; whoever is first wins."""
    part = file.with_name(f"{file.name}.{secrets.token_hex(4)}{_PART_SUFFIX}")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE)
    try:
        with open(descriptor, "w", encoding="ascii") as stream:  # noqa: PTH123 - it has a descriptor already
            stream.write(content + "\n")
            stream.flush()
            os.fsync(descriptor)
        with suppress(FileExistsError):
            os.link(part, file)
    finally:
        part.unlink()
