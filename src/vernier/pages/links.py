"""Links to other sites, as people read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from django.utils.text import Truncator

# Longer ones would fill more than a line of a telephone.
_TEXT_CHARACTERS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An address, and the short way of writing it."""

    url: str
    text: str

    @classmethod
    def to(cls, url: str) -> Self:
        short = url.partition("://")[2] or url.removeprefix("mailto:")
        return cls(url=url, text=Truncator(short.removeprefix("www.").rstrip("/") or url).chars(_TEXT_CHARACTERS))
