"""Kinds of values of options: how a text is read, and the words for what is valid."""

from __future__ import annotations

import math
import re
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


MAIL_PORTS = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}
_HOST = re.compile(r"[a-z0-9]([a-z0-9.:-]*[a-z0-9])?|\[?[0-9a-f:.]+\]?")
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_PORT_MAX = 65535


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
        try:
            return Path(given).expanduser()
        except RuntimeError as error:
            # There is no user of that name behind the tilde.
            raise ValueError(given) from error

    return Kind(parse=parse, valid="the path of a directory")


def address() -> Kind:
    def parse(given: str) -> str:
        parts = urlsplit(given.strip())
        # The port is read here because an impossible one raises when it is asked for.
        _require(
            parts.scheme in {"http", "https"} and bool(_HOST.fullmatch(parts.hostname or "")) and parts.port != 0
        )
        _require(parts.path in {"", "/"} and not parts.query and not parts.fragment and "@" not in parts.netloc)
        return f"{parts.scheme}://{parts.netloc.lower()}"

    return Kind(
        parse=parse, valid="an http:// or https:// address in ASCII without a path, such as https://example.org"
    )


def time_zone() -> Kind:
    def parse(given: str) -> str:
        try:
            return ZoneInfo(given.strip()).key
        except (ZoneInfoNotFoundError, OSError) as error:
            raise ValueError(given) from error

    return Kind(parse=parse, valid="the name of a time zone, such as Europe/Berlin")


def template() -> Kind:
    """Take an address that has the place for another one, percent-encoded, in its path or query."""

    def parse(given: str) -> str:
        parts = urlsplit(given.strip())
        is_plain = given.strip().isascii() and given.strip().isprintable() and " " not in given.strip()
        has_host = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        _require(is_plain and has_host and "@" not in parts.netloc and "{url}" in parts.path + parts.query)
        return given.strip()

    return Kind(parse=parse, valid="an http:// or https:// address in which {url} stands for the one to forget")


def dotted_path() -> Kind:
    def parse(given: str) -> str:
        words = given.strip().split(".")
        # A module and a name in it.
        _require(len(words) >= 2 and all(word.isidentifier() for word in words))  # noqa: PLR2004
        return given.strip()

    return Kind(parse=parse, valid="the dotted path of a function, such as mysite.cache.purge")


def hosts() -> Kind:
    """Take host names or addresses, with commas between them."""

    def parse(given: str) -> tuple[str, ...]:
        words = tuple(word.strip().lower() for word in given.split(",") if word.strip())
        _require(bool(words) and all(_HOST.fullmatch(word) for word in words))
        return words

    return Kind(parse=parse, valid="one or more host names, with commas between them")


def ports() -> Kind:
    def parse(given: str) -> tuple[str, ...]:
        words = tuple(word.strip() for word in given.split(",") if word.strip())
        _require(bool(words) and all(word.isascii() and word.isdigit() for word in words))
        _require(all(1 <= int(word) <= _PORT_MAX for word in words))
        return words

    return Kind(parse=parse, valid=f"one or more numbers from 1 to {_PORT_MAX}, with commas between them")


def mail_server() -> Kind:
    """Take the address of a mail server: `smtp` (plain), `smtp+starttls` or `smtps`."""

    def parse(given: str) -> str:
        parts = urlsplit(given.strip())
        _require(parts.scheme in MAIL_PORTS and bool(parts.hostname) and parts.port != 0)
        _require(parts.path in {"", "/"} and not parts.query and not parts.fragment)
        return given.strip()

    return Kind(parse=parse, valid="an address such as smtp+starttls://user:password@mail.example.org:587")


def email_address() -> Kind:
    def parse(given: str) -> str:
        name, at, host = given.strip().rpartition("@")
        _require(bool(name and at) and given.strip().isprintable() and bool(_HOST.fullmatch(host.lower())))
        return given.strip()

    return Kind(parse=parse, valid="a mail address, such as site@example.org")


def language() -> Kind:
    def parse(given: str) -> str:
        _require(bool(_LANGUAGE.fullmatch(given.strip())))
        return given.strip()

    return Kind(parse=parse, valid="a language tag, such as en or pt-BR")


def _require(valid: bool) -> None:  # noqa: FBT001
    if not valid:
        raise ValueError
