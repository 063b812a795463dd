"""`vernier manage`: Django's own commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.management import execute_from_command_line

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    execute_from_command_line(["vernier manage", *arguments.arguments])
    return 0
