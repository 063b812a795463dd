"""docs/settings.md says what the table of options says."""

from __future__ import annotations

import os
from pathlib import Path

from vernier.site.options import OPTIONS

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"
HEAD = """# Settings

Environment variables, or lines of a file `.env` in the data directory; the environment wins. Each is checked at
start: a value that is not valid ends the command with one sentence and exit code 2, an unknown name is reported.

| variable | default | valid | what it does |
|---|---|---|---|
"""


def test_settings_page__is_the_table_of_options():
    """Set UPDATE_SETTINGS_PAGE=1 to write the page anew."""
    page = HEAD + "".join(_row(option) for option in OPTIONS)
    if os.environ.get("UPDATE_SETTINGS_PAGE"):
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page


def _row(option) -> str:
    cells = (f"`{option.variable}`", _default(option.default), option.kind.valid.replace("|", "\\|"), option.help)
    return f"| {' | '.join(cells)} |\n"


def _default(value) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        value = ",".join(value)
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"
