"""Update: only the properties that the client names change (Micropub section 3.4)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import transaction

from vernier.micropub.create import DRAFT_SCOPE, SLUG_NAMES, slug_in
from vernier.micropub.jobs import ring_copies
from vernier.micropub.own_posts import own_post
from vernier.micropub.photos import PHOTO, PHOTO_ALT, address_of, with_alts
from vernier.posts.addresses import media_id_of
from vernier.posts.exceptions import PropertyInvalid
from vernier.posts.mf2 import assign, entry_properties
from vernier.posts.write import change_post

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vernier.authors.models import AccessToken
    from vernier.micropub.commands import Properties, Update
    from vernier.posts.entry import Entry
    from vernier.posts.models import Post

# A post has at most one of each: nothing can be added where there is one.
_SINGLE = {"name", "summary", "content", "published", "post-status", "visibility"}
_COMMANDS = {*SLUG_NAMES, PHOTO_ALT}


def update(token: AccessToken, command: Update, *, base: str) -> tuple[Post, bool]:
    """Change the post, and return it and whether it has a new address; raises PostError and ApiError."""
    before = own_post(token.author, command.url, base=base)
    edit = partial(_edit, command=command, base=base, keeps_status=DRAFT_SCOPE in token.scopes)
    with transaction.atomic():
        post = change_post(token.author, before.pk, edit)
        ring_copies(post)
    return post, post.path != before.path


def _edit(entry: Entry, *, command: Update, base: str, keeps_status: bool) -> Entry:
    changed = _replace(entry, command.replace, base)
    changed = _add(changed, command.add, base)
    changed = _delete_values(changed, command.delete_values, base)
    for name in command.delete_properties:
        changed = _assign(changed, {name: []}, base)
    return replace(changed, status=entry.status) if keeps_status else changed


def _replace(entry: Entry, properties: Properties, base: str) -> Entry:
    wanted = dict(properties)
    if alts := wanted.get(PHOTO_ALT):
        photos = wanted.get(PHOTO) or [address_of(photo) for photo in _values(entry, PHOTO, base)]
        wanted[PHOTO] = with_alts(photos, alts)
    if slug := slug_in(wanted):
        entry = replace(entry, slug=slug)
    return _assign(entry, wanted, base)


def _add(entry: Entry, properties: Properties, base: str) -> Entry:
    wanted = dict(properties)
    if PHOTO in wanted:
        wanted[PHOTO] = with_alts(wanted[PHOTO], wanted.get(PHOTO_ALT, []))
    for name, values in wanted.items():
        present = _values(entry, name, base)
        if name in _SINGLE and present and values:
            raise PropertyInvalid(name, values[0], "one value, which is there; replace it")
        entry = _assign(entry, {name: [*present, *values]}, base)
    return entry


def _delete_values(entry: Entry, properties: Properties, base: str) -> Entry:
    """Take the named values out; with the last one goes the property."""
    for name, values in properties.items():
        gone = [_identity(name, value, base) for value in values]
        kept = [value for value in _values(entry, name, base) if _identity(name, value, base) not in gone]
        entry = _assign(entry, {name: kept}, base)
    return entry


def _assign(entry: Entry, properties: Mapping[str, list[Any]], base: str) -> Entry:
    for name, values in properties.items():
        if name not in _COMMANDS:
            entry = assign(entry, name, values, base=base)
    return entry


def _values(entry: Entry, name: str, base: str) -> list[Any]:
    return entry_properties(entry, base=base).get(name, [])


def _identity(name: str, value: Any, base: str) -> Any:  # noqa: ANN401 - whatever a client has sent
    """Return what tells a value from another: of a photo its address, in any of its spellings."""
    if name != PHOTO:
        return value
    return media_id_of(base, address_of(value)) or address_of(value)
