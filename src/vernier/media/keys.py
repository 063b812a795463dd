"""Keys: what the files of a Version are called in the stores, and of which Version a file is."""

from __future__ import annotations

import re
from uuid import UUID

# All renditions and kept originals are below it, and nothing else is.
IMAGES_DIRECTORY = "images"

_OF_MEDIA = re.compile(rf"{IMAGES_DIRECTORY}/[0-9a-f-]{{36}}/.+", re.IGNORECASE)
# Of any spelling, so that a file whose path is spelled differently still belongs to its Version.
_OF_VERSION = re.compile(rf"{IMAGES_DIRECTORY}/([0-9a-f-]{{36}})/v0*([1-9][0-9]{{0,8}})/", re.IGNORECASE)

# The id of a Media, and the number of one of its Versions.
type Owner = tuple[UUID, int]


def media_directory(media_id: UUID) -> str:
    """Return the common start of the keys of all files of a Media."""
    return f"{IMAGES_DIRECTORY}/{media_id}"


def is_of_media(key: str) -> bool:
    """Tell whether a rendition or kept original could be called so."""
    return _OF_MEDIA.fullmatch(key) is not None


def owner_of(key: str) -> Owner | None:
    """Return whose file it is by its name, be there such a Version or not."""
    matched = _OF_VERSION.match(key)
    if matched is None:
        return None
    try:
        return UUID(matched[1]), int(matched[2])
    except ValueError:
        return None
