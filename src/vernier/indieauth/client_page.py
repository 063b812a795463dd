"""A client's web page: its h-app and its `rel=redirect_uri` links (IndieAuth sections 4.2.2 and 4.2.3).

It reads no more of microformats than a name, a logo and an address, and only to show them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
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
# Deeper than pages are, and as far as an end tag looks for its start.
DEPTH_MAX = 200
# RFC 8288 section 3: <URL>; parameters, up to the comma before the next <.
_LINK = re.compile(r"<([^<>]*)>([^<]*)")
_RELATION = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))', re.IGNORECASE)


def read_client_page(html: str, *, link_headers: Iterable[str], base: str) -> Description:
    """Return what the page and its Link headers say; it is empty for a page that says nothing."""
    parser = _PageParser()
    parser.feed(html)
    parser.close()
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


@dataclass(slots=True, kw_only=True)
class _Element:
    tag: str
    classes: frozenset[str] = field(default_factory=frozenset)


class _PageParser(HTMLParser):
    """Collects `base`, the redirect links and the h-app."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.base = ""
        self.redirect_uris: list[str] = []
        self.app = _App()
        self._open: list[_Element] = []
        self._has_app = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "base" and not self.base:
            self.base = given.get("href", "")
        if tag in {"link", "a"} and REDIRECT_RELATION in given.get("rel", "").lower().split() and given.get("href"):
            self.redirect_uris.append(given["href"])
        element = _Element(tag=tag, classes=frozenset(given.get("class", "").split()))
        self._begin_app(element)
        if self._is_in_app(element):
            self._take_properties(element.classes, given)
        if tag not in VOID_ELEMENTS and len(self._open) < DEPTH_MAX:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        for index in reversed(range(len(self._open))):
            if self._open[index].tag == tag:
                del self._open[index:]
                return

    def handle_data(self, data: str) -> None:
        if not self._is_in_app():
            return
        if len(self.app.text) < TEXT_CHARACTERS_MAX:
            self.app.text += data[:TEXT_CHARACTERS_MAX]
        if any("p-name" in element.classes for element in self._open) and len(self.app.name) < TEXT_CHARACTERS_MAX:
            self.app.name += data[:TEXT_CHARACTERS_MAX]

    def _begin_app(self, element: _Element) -> None:
        """Only the first h-app counts: the classes of a later one are forgotten."""
        if APP_CLASSES & element.classes:
            if self._has_app:
                element.classes -= APP_CLASSES
            self._has_app = True

    def _is_in_app(self, element: _Element | None = None) -> bool:
        return any(APP_CLASSES & opened.classes for opened in ([*self._open, element] if element else self._open))

    def _take_properties(self, classes: frozenset[str], given: dict[str, str]) -> None:
        address = given.get("href") or given.get("src") or ""
        if "u-logo" in classes and not self.app.logo:
            self.app.logo = address
        if "u-url" in classes and not self.app.url:
            self.app.url = address
        if "p-name" in classes and given.get("alt"):
            self.app.name = self.app.name or given["alt"]
