"""`vernier author`: the people who publish here, and how they get in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import timezone

from vernier.authors.accounts import create_author
from vernier.authors.models import Author
from vernier.authors.sign_in_link import issue_sign_in_link
from vernier.site.exceptions import VernierError

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    {"create": _create, "link": _link, "list": _list}[arguments.action](arguments)
    return 0


def find_author(name: str) -> Author:
    """Return the author of this name; raise VernierError."""
    try:
        return Author.objects.get(username=name)
    except Author.DoesNotExist as error:
        raise VernierError(f"There is no author {name!r}; make one with: vernier author create {name}") from error


def _create(arguments: argparse.Namespace) -> None:
    """Make an author who cannot sign in by password yet, and print a link."""
    try:
        author = create_author(arguments.name, email=arguments.email)
    except ValidationError as error:
        problems = " ".join(error.messages)
        raise VernierError(f"The author {arguments.name!r} cannot be created: {problems}") from error
    print(f"Author {author.get_username()} is created.")
    _print_link(author)


def _link(arguments: argparse.Namespace) -> None:
    author = find_author(arguments.name)
    if not author.is_active:
        raise VernierError(f"The author {arguments.name!r} is not active, so no link signs them in.")
    _print_link(author)


def _list(arguments: argparse.Namespace) -> None:  # noqa: ARG001 - one signature for all
    """Print a line per author: name, e-mail address or -, and what is particular about them."""
    for author in Author.objects.order_by("pk").iterator():
        remarks = [
            word for word, holds in (("operator", author.is_superuser), ("inactive", not author.is_active)) if holds
        ]
        print("\t".join((author.get_username(), author.email or "-", *remarks)))


def _print_link(author: Author) -> None:
    path = issue_sign_in_link(author, now=timezone.now())
    print(f"Sign in once, within 24 hours: {settings.VERNIER_MEDIA_API['BASE_URL']}{path}")
