"""What a client wants: the commands of Micropub sections 3.3 to 3.6, from a form or from JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vernier.media_api.errors import invalid_request
from vernier.media_api.reading import describe, quoted
from vernier.media_api.sender import TOKEN_FIELD
from vernier.posts.entry import PROPERTIES_MAX, VALUES_MAX

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vernier.media_api.errors import ApiError
    from vernier.media_api.received import ReceivedFile

type Properties = dict[str, list[Any]]

# Never properties of a post: Micropub section 3.1, and `mp-` for commands.
_RESERVED = {TOKEN_FIELD, "h", "action", "url"}
COMMAND_PREFIX = "mp-"
# Micropub has HTML in JSON only; older than that is this field, the one with a name in brackets that clients send.
HTML_FIELD = "content[html]"
# How encoders of forms spell a list of objects out, such as that of the client micropub-helper.
_PHOTO_PARTS = {"photo[][value]": "value", "photo[][alt]": "alt"}
_ENTRY = "h-entry"
_UPDATES = ("replace", "add", "delete")


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """A new post; a value of `photo` may be a ReceivedFile."""

    properties: Properties


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Changes of the properties that are named, and of no other."""

    url: str
    replace: Properties = field(default_factory=dict)
    add: Properties = field(default_factory=dict)
    delete_values: Properties = field(default_factory=dict)
    delete_properties: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Undelete:
    url: str


type Command = Create | Update | Delete | Undelete


def form_command(fields: Iterable[tuple[str, str | ReceivedFile]]) -> Command:
    """Return what a form asks for; raise ApiError where that makes no sense."""
    values: Properties = {}
    for name, value in fields:
        if name in _PHOTO_PARTS:
            _take_part(values.setdefault("photo", []), _PHOTO_PARTS[name], value)
        else:
            values.setdefault(name.removesuffix("[]"), []).append(value)
    if action := _first(values, "action"):
        return _form_action(action, _first(values, "url"))
    kind = _first(values, "h") or "entry"
    if kind != "entry":
        raise invalid_request(f"The field h is {quoted(kind)}; valid is “entry”.")
    return Create(properties=_with_html(_without_reserved(values)))


def json_command(content: dict[str, Any]) -> Command:
    """Return what a JSON object asks for; raise ApiError where that makes no sense."""
    if "action" in content:
        return _json_action(content)
    kinds = content.get("type", [_ENTRY])
    if kinds not in (_ENTRY, [_ENTRY]):
        raise invalid_request('The type is not valid; valid is ["h-entry"].')
    if "properties" not in content:
        raise invalid_request("The JSON has no properties; valid is an object with lists of values by property.")
    return Create(properties=_lists("properties", content["properties"]))


def _first(values: Properties, name: str) -> str:
    value = values.get(name, [""])[0]
    return value if isinstance(value, str) else ""


def _take_part(photos: list[Any], part: str, value: str | ReceivedFile) -> None:
    """Give the last photo its next part; one that it has already begins another."""
    if not photos or not isinstance(photos[-1], dict) or part in photos[-1]:
        photos.append({})
    photos[-1][part] = value


def _with_html(values: Properties) -> Properties:
    """Return the properties with a form's HTML in the place of its plain text."""
    others = {name: given for name, given in values.items() if name != HTML_FIELD}
    html = [{"html": text} for text in values.get(HTML_FIELD, []) if text]
    return {**others, "content": html} if html else others


def _form_action(action: str, url: str) -> Command:
    if action == "update":
        raise invalid_request("A form cannot update; valid for an update is JSON.")
    if action not in {"delete", "undelete"}:
        raise _unknown_action(action)
    if not url:
        raise invalid_request(f"The url of the post to {action} is missing.")
    return Delete(url=url) if action == "delete" else Undelete(url=url)


def _json_action(content: dict[str, Any]) -> Command:
    action, url = content["action"], content.get("url")
    if action not in ("update", "delete", "undelete"):
        raise _unknown_action(action if isinstance(action, str) else describe(action))
    if not isinstance(url, str) or not url:
        raise invalid_request(f"The url of the post to {action} is missing, or is not a text.")
    match action:
        case "delete":
            return Delete(url=url)
        case "undelete":
            return Undelete(url=url)
    return _update(content, url)


def _update(content: dict[str, Any], url: str) -> Update:
    if not any(name in content for name in _UPDATES):
        raise invalid_request(f"The update changes nothing; valid is at least one of {', '.join(_UPDATES)}.")
    delete = content.get("delete", {})
    if isinstance(delete, list):
        if not all(isinstance(name, str) for name in delete):
            raise invalid_request("The list delete has something else than names of properties in it.")
        whole, values = tuple(delete), {}
    else:
        whole, values = (), _lists("delete", delete)
    return Update(
        url=url,
        replace=_lists("replace", content.get("replace", {})),
        add=_lists("add", content.get("add", {})),
        delete_values=values,
        delete_properties=whole,
    )


def _lists(where: str, given: object) -> Properties:
    """Return lists of values by property; a command is taken without its list too, for it has one value."""
    if not isinstance(given, dict):
        raise invalid_request(f"The value of {where} is {describe(given)}; valid is an object.")
    values = {
        name: [value] if name.startswith(COMMAND_PREFIX) and not isinstance(value, list) else value
        for name, value in given.items()
    }
    for name, value in values.items():
        if not isinstance(value, list):
            raise invalid_request(f"In {where}, {quoted(name)} is {describe(value)}; valid is a list of values.")
    return _without_reserved(values)


def _without_reserved(values: Properties) -> Properties:
    if len(values) > PROPERTIES_MAX:
        raise invalid_request(f"There are {len(values)} properties; valid are at most {PROPERTIES_MAX}.")
    for name, given in values.items():
        if len(given) > VALUES_MAX:
            raise invalid_request(f"{quoted(name)} has {len(given)} values; valid are at most {VALUES_MAX}.")
    return {name: given for name, given in values.items() if name not in _RESERVED}


def _unknown_action(action: str) -> ApiError:
    return invalid_request(f"The action is {quoted(action)}; valid are update, delete and undelete.")
