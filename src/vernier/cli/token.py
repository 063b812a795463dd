"""`vernier token create`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vernier.authors.models import issue_token
from vernier.cli.author import find_author
from vernier.site.exceptions import VernierError

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    """Print the token and nothing else: the output goes into variables and files."""
    author = find_author(arguments.author)
    try:
        print(issue_token(author, scope=arguments.scope))
    except ValueError as error:
        raise VernierError(str(error)) from error
    return 0
