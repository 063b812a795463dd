"""Progress bars: on standard error, on a terminal only, and gone at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

if TYPE_CHECKING:
    from rich.progress import ProgressColumn


def bars(*columns: ProgressColumn) -> Progress:
    """Return a display of bars with their names, and with these columns behind each."""
    console = Console(stderr=True)
    name = TextColumn("{task.description}", markup=False)
    return Progress(name, BarColumn(), *columns, console=console, transient=True, disable=not console.is_terminal)
