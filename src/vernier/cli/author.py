"""`vernier author create`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError

from vernier.authors.models import Author
from vernier.site.exceptions import VernierError

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    author = create_author(arguments.name, email=arguments.email)
    print(f"Author {author.get_username()} is created.")
    return 0


def create_author(name: str, *, email: str) -> Author:
    """Make an author who cannot sign in by password; raise VernierError where the name or address is refused."""
    author = Author(username=name, email=email)
    author.set_unusable_password()
    try:
        author.full_clean()
    except ValidationError as error:
        problems = " ".join(error.messages)
        raise VernierError(f"The author {name!r} cannot be created: {problems}") from error
    author.save()
    return author


def find_author(name: str) -> Author:
    """Return the author of this name; raise VernierError."""
    try:
        return Author.objects.get(username=name)
    except Author.DoesNotExist as error:
        raise VernierError(f"There is no author {name!r}; make one with: vernier author create {name}") from error
