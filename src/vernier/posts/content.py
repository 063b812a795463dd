"""The text of a post: from its source to HTML that is safe to show."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape, unescape
from typing import TYPE_CHECKING

import nh3
from markdown_it import MarkdownIt

from vernier.posts.entry import Content, ContentFormat

if TYPE_CHECKING:
    from collections.abc import Callable

_TAGS = {
    "a", "abbr", "b", "blockquote", "br", "caption", "cite", "code", "dd", "del", "details", "dfn", "div", "dl", "dt",
    "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "mark",
    "ol", "p", "pre", "q", "s", "samp", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td",
    "tfoot", "th", "thead", "time", "tr", "u", "ul", "var", "wbr", "ruby", "rt", "rp", "bdi", "bdo",
}  # fmt: skip
# No class and no id: what an author pastes must neither change the look of the page nor add to its microformats.
_ATTRIBUTES = {
    "*": {"lang", "dir", "title"},
    "a": {"href", "hreflang"},
    "img": {"src", "alt", "width", "height"},
    "ol": {"start", "reversed", "type"},
    "li": {"value"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "time": {"datetime"},
    "blockquote": {"cite"},
    "q": {"cite"},
    "details": {"open"},
    "bdo": {"dir"},
}
_URL_SCHEMES = {"http", "https", "mailto", "tel", "xmpp", "gemini"}
_LINK_REL = "noopener"
_URL = re.compile(r"https?://[^\s<>\"]+[^\s<>\".,;:!?')\]}]", re.IGNORECASE)
# The kind of a post, its slug and its row ask for the same text, one after the other; a long one takes half a second.
_RENDERED_MAX = 8
# Where text of two blocks would run into one word.
_BLOCK_ENDS = re.compile(r"</(p|div|li|h[1-6]|tr|blockquote|figcaption)>|<br[^>]*>", re.IGNORECASE)


@lru_cache(maxsize=_RENDERED_MAX)
def render(content: Content | None) -> str:
    """Return the content as HTML without anything that runs, tracks or breaks out of its place."""
    return "" if content is None else _sanitise(_RENDERERS[content.format](content.source))


def sanitise_source(content: Content) -> Content:
    """Return the content as it is stored: HTML is cleaned on the way in already."""
    if content.format is not ContentFormat.HTML:
        return content
    return Content(format=content.format, source=_sanitise(content.source))


def plain_text(html: str) -> str:
    """Return the text of sanitised HTML."""
    return unescape(nh3.clean(_BLOCK_ENDS.sub("\n", html), tags=set(), attributes={})).strip()


def _sanitise(html: str) -> str:
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_URL_SCHEMES,
        link_rel=_LINK_REL,
        strip_comments=True,
    ).strip()


def _render_text(source: str) -> str:
    """Keep lines and paragraphs, and make links of addresses."""
    text = source.replace("\r\n", "\n").replace("\r", "\n").strip()
    paragraphs = re.split(r"\n{2,}", text)
    return "\n".join(f"<p>{_link(paragraph).replace(chr(10), '<br>')}</p>" for paragraph in paragraphs if paragraph)


def _link(text: str) -> str:
    parts, end = [], 0
    for match in _URL.finditer(text):
        address = escape(match[0])
        parts += [escape(text[end : match.start()]), f'<a href="{address}">{address}</a>']
        end = match.end()
    return "".join([*parts, escape(text[end:])])


def _render_markdown(source: str) -> str:
    return str(_MARKDOWN.render(source))


_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_RENDERERS: dict[ContentFormat, Callable[[str], str]] = {
    ContentFormat.TEXT: _render_text,
    ContentFormat.MARKDOWN: _render_markdown,
    ContentFormat.HTML: str,
}
