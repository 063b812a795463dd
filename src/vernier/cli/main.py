"""The command `vernier`: reads the arguments, sets the site up, and runs the module of the command."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from vernier.cli.arguments import parse

if TYPE_CHECKING:
    import argparse

# What a shell reports of a program that Ctrl-C has ended.
EXIT_INTERRUPTED = 130
SETTINGS = "vernier.site.settings"


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit code; what an operator can put right is said in one sentence."""
    try:
        return _run(parse(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever was reading has read enough; Python would complain at exit about what is left to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        told = import_module("vernier.cli.errors").tell(error)
        if told is None:
            raise
        sentence, exit_code = told
        print(f"vernier: {sentence}", file=sys.stderr)
        return int(exit_code)


def _run(arguments: argparse.Namespace) -> int:
    """Modules that need Django are imported once it is set up, so that `--help` and mistakes answer at once."""
    os.environ["DJANGO_SETTINGS_MODULE"] = SETTINGS
    prepare = import_module("vernier.cli.prepare")
    prepare.prepare(
        is_server=getattr(arguments, "is_server", False),
        is_supervised=getattr(arguments, "supervised", False),
    )
    try:
        return int(import_module(arguments.module).run(arguments))
    finally:
        prepare.close()
