"""The shop of docs/django.md, made of its code blocks by whoever follows them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "django.md"
# The path of a file at the end of a text, and the block below it.
_FILE = re.compile(r"`([\w./]+)`:\n\n```(?:python|html)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def files():
    """Yield the path and the text of each block that belongs to a file, in their order."""
    for found in _FILE.finditer(PAGE.read_text()):
        yield found[1], found[2]


class Shop:
    """A new project in a directory, with the blocks added to its files."""

    def __init__(self, directory):
        self.directory = directory
        self.run("-m", "django", "startproject", "shop", ".")
        self.run("manage.py", "startapp", "catalog")
        for name, text in files():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a") as file:
                file.write(f"\n{text}")
        self.run("manage.py", "makemigrations", "catalog")
        self.run("manage.py", "migrate", "--verbosity", "0")

    def run(self, *arguments):
        """Run Python in the project and return what it printed."""
        with self.start(*arguments) as process:
            out, error = process.communicate()
        assert process.returncode == 0, error
        return out

    def start(self, *arguments):
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=self.directory,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(self.directory)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
