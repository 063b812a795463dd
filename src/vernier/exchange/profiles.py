"""Profiles of authors, in the file `authors.yaml` of an export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vernier.authors.forms import ProfileForm
from vernier.authors.profile_photo import use_as_profile_photo
from vernier.exchange.documents import read_text, read_yaml
from vernier.exchange.exceptions import DocumentInvalid

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from uuid import UUID

    from vernier.authors.models import Author

FILE_NAME = "authors.yaml"


def find_profile(folder: Path, author: Author) -> dict[str, Any] | None:
    """Return what the folder says of the author's profile, or None; raise DocumentInvalid for a broken file."""
    file = folder / FILE_NAME
    if not file.is_file():
        return None
    profiles = read_yaml(read_text(file))
    if not isinstance(profiles, list):
        raise DocumentInvalid(f"{FILE_NAME} is no list of authors.")
    return next((one for one in profiles if isinstance(one, dict) and one.get("name") == author.get_username()), None)


def take_profile(profile: dict[str, Any], author: Author, *, upload: Callable[[str], UUID]) -> bool:
    """Fill in what the author's profile does not say yet; return whether anything was. Raises DocumentInvalid."""
    links = profile.get("links")
    given = {
        "display_name": author.display_name or str(profile.get("display_name") or ""),
        "note": author.note or str(profile.get("note") or ""),
        "links": "\n".join(author.links or (map(str, links) if isinstance(links, list) else ())),
    }
    before = (author.display_name, author.note, author.links, author.photo_id)
    form = ProfileForm(given, instance=author)
    if not form.is_valid():
        problems = " ".join(str(problem) for problems in form.errors.values() for problem in problems)
        raise DocumentInvalid(f"The profile in {FILE_NAME} cannot be kept: {problems}")
    form.save_profile()
    if author.photo_id is None and profile.get("photo"):
        use_as_profile_photo(author, upload(str(profile["photo"])))
        author.refresh_from_db()
    return before != (author.display_name, author.note, author.links, author.photo_id)
