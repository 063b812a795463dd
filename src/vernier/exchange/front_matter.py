"""Front matter: what it says of a post, in the names that people, generators and `export` give it."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from vernier.posts.entry import ContentFormat
from vernier.posts.exceptions import PropertyInvalid

# "2026-11-30-a-walk.md", as generators name their files: some of them keep the date nowhere else.
DATED_NAME = re.compile(r"(\d{4}-\d{2}-\d{2})[-_]")
# As texts too, for YAML takes what stands in quotation marks for one.
_ANSWERS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False}


def properties_of(head: dict[str, Any], name: str) -> dict[str, list[Any]]:
    """Return the front matter of a post of this name as properties; what only a generator understands is left out."""
    given = head.get("properties")
    properties = dict(given) if isinstance(given, dict) else {}
    wanted: dict[str, list[Any]] = {str(key): list_of(values) for key, values in properties.items()}
    wanted["name"] = list_of(head.get("title"))
    wanted["summary"] = list_of(head.get("summary") or head.get("description"))
    wanted["category"] = [str(tag) for key in ("tags", "categories") for tag in _tags(head.get(key))]
    wanted["published"] = _date(head, name)
    wanted["post-status"] = ["draft"] if _is_draft(head) else list_of(head.get("status"))
    wanted["visibility"] = list_of(head.get("visibility"))
    return {key: values for key, values in wanted.items() if values}


def format_of(head: dict[str, Any]) -> ContentFormat:
    """Return how the text is written; raise PropertyInvalid for a way that is not known."""
    given = head.get("format") or ContentFormat.MARKDOWN
    if given not in ContentFormat.values:
        raise PropertyInvalid("format", given, f"one of {', '.join(ContentFormat.values)}")
    return ContentFormat(given)


def list_of(value: object) -> list[Any]:
    """Return the values: a list as it is, none where nothing is said, one where it is one."""
    if value in (None, "", False):
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _date(head: dict[str, Any], name: str) -> list[str]:
    given = head.get("date") or (None if isinstance(head.get("published"), bool) else head.get("published"))
    if given:
        return [_as_text(value) for value in list_of(given)[:1]]
    dated = DATED_NAME.match(name)
    return [dated[1]] if dated else []


def _is_draft(head: dict[str, Any]) -> bool:
    """Raise PropertyInvalid where the answer is not clear: nothing is published by accident."""
    given = head.get("draft")
    answer = _ANSWERS.get(str(given).strip().lower(), given)
    if answer is not None and not isinstance(answer, bool):
        raise PropertyInvalid("draft", given, "true or false")
    return answer is True or head.get("published") is False


def _tags(value: object) -> list[Any]:
    """Take a list, or one text with commas between the tags."""
    if isinstance(value, str):
        return [tag.strip() for tag in value.split(",")]
    return list_of(value)


def _as_text(value: object) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)
