"""Documents: posts as Markdown files with front matter, the form in which static site generators keep them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from datetime import date, time
from typing import TYPE_CHECKING, Any

import yaml

from vernier.exchange.exceptions import DocumentInvalid

if TYPE_CHECKING:
    from pathlib import Path

FENCE = "---"
# Hugo's own.
TOML_FENCE = "+++"
# A post has at most half a megabyte of text.
DOCUMENT_BYTES_MAX = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The front matter and the text below it."""

    head: dict[str, Any] = field(default_factory=dict)
    body: str = ""


def read_document(file: Path) -> Document:
    """Return the document in the file; raise DocumentInvalid."""
    return parse(read_text(file))


def read_text(file: Path) -> str:
    """Return what the file says; raise DocumentInvalid where it is too long or not in UTF-8."""
    if file.stat().st_size > DOCUMENT_BYTES_MAX:
        raise DocumentInvalid(f"It has more than {DOCUMENT_BYTES_MAX} bytes.")
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentInvalid("It is not written in UTF-8.") from error


def parse(text: str) -> Document:
    """Return the document that the text is; without a fence at its start all of it is the body."""
    lines = text.replace("\r\n", "\n").split("\n")
    fence = lines[0].strip()
    if fence not in {FENCE, TOML_FENCE}:
        return Document(body=text)
    end = next((number for number, line in enumerate(lines[1:], 1) if line.strip() == fence), None)
    if end is None:
        raise DocumentInvalid(f"Its front matter has no closing “{fence}”.")
    read = read_yaml if fence == FENCE else _read_toml
    return Document(head=_head(read("\n".join(lines[1:end]))), body="\n".join(lines[end + 1 :]).strip("\n"))


def format_document(document: Document) -> str:
    """Return the text that `parse` reads as this document."""
    head = yaml.safe_dump(document.head, allow_unicode=True, sort_keys=False, width=10**6)
    return f"{FENCE}\n{head}{FENCE}\n{document.body}\n"


def read_yaml(text: str) -> object:
    """Return what the YAML says; raise DocumentInvalid."""
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise DocumentInvalid(f"Its front matter is no YAML: {reason}.") from error


def _read_toml(text: str) -> object:
    """Return what the TOML says, with times as text, as `read_yaml` has them; raise DocumentInvalid."""
    try:
        return _with_texts(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DocumentInvalid(f"Its front matter is no TOML: {error}.") from error


def _with_texts(value: object) -> object:
    if isinstance(value, dict):
        return {name: _with_texts(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_with_texts(part) for part in value]
    return value.isoformat() if isinstance(value, date | time) else value


def _head(head: object) -> dict[str, Any]:
    if head is None:
        return {}
    if not isinstance(head, dict):
        raise DocumentInvalid("Its front matter is no list of “name: value”.")
    return {str(name).lower(): value for name, value in head.items()}


class _Loader(yaml.SafeLoader):
    """Reads times as the text that they are written in, which has the offset, and no aliases, which can grow."""

    def compose_node(self, parent: Any, index: Any) -> Any:  # noqa: ANN401 - the library's own signature
        if self.check_event(yaml.AliasEvent):
            raise DocumentInvalid("Its front matter has an alias (*name), which is not supported.")
        return super().compose_node(parent, index)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
