"""Where programs that post for an author find the endpoint: Micropub section 5.3."""

from __future__ import annotations

from vernier.micropub.uploads import MICROPUB_PATH


def discovery_links(base: str) -> list[tuple[str, str]]:
    """Return relation and URL of each link of a profile page."""
    return [("micropub", base + MICROPUB_PATH)]
