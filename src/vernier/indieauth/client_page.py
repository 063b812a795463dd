"""A client's web page: its h-app and its `rel=redirect_uri` links (IndieAuth sections 4.2.2 and 4.2.3).

It reads no more of microformats than a name, a logo and an address, and only to show them.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from vernier.indieauth.description import Description, clean_name, clean_redirect_uris, clean_url

if TYPE_CHECKING:
    from collections.abc import Iterable

REDIRECT_RELATION = "redirect_uri"
APP_CLASSES = frozenset({"h-app", "h-x-app"})
# HTML Standard, section 13.1.2: these have no end tag.
VOID_ELEMENTS = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
)
# A name is a line; what follows in the element is not read.
TEXT_CHARACTERS_MAX = 1000
# Deeper than pages are.
DEPTH_MAX = 200
# RFC 8288 section 3: <URL>; parameters, up to the comma before the next <.
_LINK = re.compile(r"<([^<>]*)>([^<]*)")
_RELATION = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))', re.IGNORECASE)


def read_client_page(html: str, *, link_headers: Iterable[str], base: str) -> Description:
    """Return what the page and its Link headers say; it is empty for a page that says nothing."""
    parser = _PageParser()
    # What the parser of the standard library raises at `<![x`; what came before it counts.
    with suppress(AssertionError):
        # Its `close` tries what is not complete at every later character again, for hours in a page made for that.
        # A tag at the end hands the last text on instead.
        parser.feed(f"{html}<wbr>")
    page_base = clean_url(parser.base, base=base) or base
    in_headers = clean_redirect_uris(_redirect_links(link_headers), base=base)
    in_page = clean_redirect_uris(parser.redirect_uris, base=page_base)
    return Description(
        name=clean_name(parser.app.name or parser.app.text),
        logo_url=clean_url(parser.app.logo, base=page_base),
        client_uri=clean_url(parser.app.url, base=page_base),
        redirect_uris=tuple(dict.fromkeys(in_headers + in_page)),
    )


def _redirect_links(headers: Iterable[str]) -> list[str]:
    return [
        url
        for header in headers
        for url, parameters in _LINK.findall(header)
        if REDIRECT_RELATION in _relations(parameters)
    ]


def _relations(parameters: str) -> list[str]:
    found = _RELATION.search(parameters)
    return (found[1] or found[2] or "").lower().split() if found else []


@dataclass(slots=True, kw_only=True)
class _App:
    """The first h-app of a page. Without a p-name, its text is its name."""

    name: str = ""
    text: str = ""
    logo: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Element:
    """An element that is open, and what it or one around it is."""

    tag: str = ""
    is_in_app: bool = False
    is_in_name: bool = False


class _PageParser(HTMLParser):
    """Collects `base`, the redirect links and the h-app."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.base = ""
        self.redirect_uris: list[str] = []
        self.app = _App()
        self._open = [_Element()]
        self._open_tags: Counter[str] = Counter()
        self._has_app = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "base" and not self.base:
            self.base = given.get("href", "")
        if tag in {"link", "a"} and REDIRECT_RELATION in given.get("rel", "").lower().split() and given.get("href"):
            self.redirect_uris.append(given["href"])
        classes = frozenset(given.get("class", "").split())
        element = self._element(tag, classes)
        if element.is_in_app:
            self._take_properties(classes, given)
        if tag not in VOID_ELEMENTS and len(self._open) <= DEPTH_MAX:
            self._open.append(element)
            self._open_tags[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element of that name, with those in it; one that is not open is not searched for."""
        while self._open_tags[tag]:
            closed = self._open.pop()
            self._open_tags[closed.tag] -= 1
            if closed.tag == tag:
                return

    def handle_data(self, data: str) -> None:
        around = self._open[-1]
        if not around.is_in_app:
            return
        if len(self.app.text) < TEXT_CHARACTERS_MAX:
            self.app.text += data[:TEXT_CHARACTERS_MAX]
        if around.is_in_name and len(self.app.name) < TEXT_CHARACTERS_MAX:
            self.app.name += data[:TEXT_CHARACTERS_MAX]

    def _element(self, tag: str, classes: frozenset[str]) -> _Element:
        """Return the element in its place; only the first h-app of a page counts."""
        around = self._open[-1]
        begins_app = not self._has_app and not APP_CLASSES.isdisjoint(classes)
        self._has_app = self._has_app or begins_app
        return _Element(
            tag=tag,
            is_in_app=around.is_in_app or begins_app,
            is_in_name=around.is_in_name or "p-name" in classes,
        )

    def _take_properties(self, classes: frozenset[str], given: dict[str, str]) -> None:
        address = given.get("href") or given.get("src") or ""
        if "u-logo" in classes and not self.app.logo:
            self.app.logo = address
        if "u-url" in classes and not self.app.url:
            self.app.url = address
        if "p-name" in classes and given.get("alt"):
            self.app.name = self.app.name or given["alt"]
