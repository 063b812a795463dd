"""Kinds of values of options: how a text is read, and the words for what is valid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable

_SWITCH = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """`parse` returns the value of a text or raises ValueError; `valid` completes the sentence "valid is ..."."""

    parse: Callable[[str], object]
    valid: str


def whole(least: int, most: int) -> Kind:
    def parse(given: str) -> int:
        value = int(given)
        _require(least <= value <= most)
        return value

    return Kind(parse=parse, valid=f"a whole number from {least} to {most}")


def number(least: float, most: float) -> Kind:
    def parse(given: str) -> float:
        value = float(given)
        _require(math.isfinite(value) and least <= value <= most)
        return value

    return Kind(parse=parse, valid=f"a number from {least:.15g} to {most:.15g}")


def switch() -> Kind:
    def parse(given: str) -> bool:
        _require(given.strip().lower() in _SWITCH)
        return _SWITCH[given.strip().lower()]

    return Kind(parse=parse, valid="yes or no")


def choice(*valid: str) -> Kind:
    """Take one of a few words, in any case; the value is written as in `valid`."""
    by_folded = {word.casefold(): word for word in valid}

    def parse(given: str) -> str:
        _require(given.strip().casefold() in by_folded)
        return by_folded[given.strip().casefold()]

    return Kind(parse=parse, valid=f"one of {', '.join(valid)}")


def names(*valid: str) -> Kind:
    """Take some of a few words, in any case, with commas between them."""

    def parse(given: str) -> tuple[str, ...]:
        words = tuple(word.strip().lower() for word in given.split(",") if word.strip())
        _require(bool(words) and set(words) <= set(valid))
        return tuple(dict.fromkeys(words))

    return Kind(parse=parse, valid=f"one or more of {', '.join(valid)}, with commas between them")


def text(*, length_min: int) -> Kind:
    def parse(given: str) -> str:
        _require(len(given) >= length_min)
        return given

    return Kind(parse=parse, valid=f"a text of at least {length_min} characters")


def path() -> Kind:
    def parse(given: str) -> Path:
        _require("\0" not in given)
        return Path(given)

    return Kind(parse=parse, valid="the path of a directory")


def address() -> Kind:
    def parse(given: str) -> str:
        parts = urlsplit(given.strip())
        # The port is read here because an impossible one raises when it is asked for.
        _require(parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0)
        _require(parts.path in {"", "/"} and not parts.query and not parts.fragment and "@" not in parts.netloc)
        return f"{parts.scheme}://{parts.netloc.lower()}"

    return Kind(parse=parse, valid="an http:// or https:// address without a path, such as https://example.org")


def time_zone() -> Kind:
    def parse(given: str) -> str:
        try:
            return ZoneInfo(given.strip()).key
        except (ZoneInfoNotFoundError, OSError) as error:
            raise ValueError(given) from error

    return Kind(parse=parse, valid="the name of a time zone, such as Europe/Berlin")


def _require(valid: bool) -> None:  # noqa: FBT001
    if not valid:
        raise ValueError
