"""The fields of a post, photos excepted: from an entry to what the form shows, and from that to the entry it means.

Only what the author has changed is written. Whatever the form cannot show stays: other properties, an offset of the
time, a tag with a comma in it.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone

from vernier.posts.entry import (
    CONTENT_CHARACTERS_MAX,
    TAG_CHARACTERS_MAX,
    TAGS_MAX,
    TITLE_CHARACTERS_MAX,
    URL_CHARACTERS_MAX,
    Content,
    ContentFormat,
    Status,
    Visibility,
)
from vernier.posts.models import url_of
from vernier.posts.permalinks import SLUG_CHARACTERS_MAX

if TYPE_CHECKING:
    from vernier.posts.entry import Entry

# A kind of link that a post can have, by the name of its field.
LINKS = {
    "in_reply_to": "in-reply-to",
    "like_of": "like-of",
    "repost_of": "repost-of",
    "bookmark_of": "bookmark-of",
    "syndication": "syndication",
}
# Which field shows a property that `vernier.posts` complains of.
_FIELDS = {"name": "title", "published": "published", "category": "tags", "content": "content", "summary": "summary"}
_ADDRESSES_MAX = 20
_TOKEN_BYTES = 16
_TIME_FORMAT = "%Y-%m-%dT%H:%M"
_NO_LINE_BREAKS = str.maketrans({"\r": " ", "\n": " "})


class TextField(forms.CharField):
    """A text of several lines, which browsers send with a carriage return before each line feed."""

    widget = forms.Textarea

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - those of CharField
        super().__init__(strip=False, required=False, **options)

    def to_python(self, value: object) -> str:
        return _with_line_feeds(super().to_python(value) or "")


class AddressesField(TextField):
    """Web addresses, one a line."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - those of CharField
        attributes = {"rows": 1, "inputmode": "url", "autocapitalize": "none", "spellcheck": "false"}
        super().__init__(
            widget=forms.Textarea(attrs=attributes), max_length=_ADDRESSES_MAX * URL_CHARACTERS_MAX, **options
        )

    def to_python(self, value: object) -> str:
        lines = (line.strip() for line in super().to_python(value).splitlines())
        return "\n".join(line for line in lines if line)

    def validate(self, value: str) -> None:
        super().validate(value)
        lines = value.splitlines()
        if len(lines) > _ADDRESSES_MAX:
            raise ValidationError(f"These are {len(lines)} addresses; valid are at most {_ADDRESSES_MAX}.")
        for line in lines:
            if not _is_web_address(line):
                raise ValidationError(
                    f"“{line[:100]}” is no web address; valid is one like https://example.org/page."
                )


class PostForm(forms.Form):
    """The fields as they are rendered; `initial` is what the post says now."""

    token = forms.RegexField(r"\A[A-Za-z0-9_-]{1,64}\Z", widget=forms.HiddenInput, required=False)
    revision = forms.IntegerField(widget=forms.HiddenInput, required=False, min_value=1, max_value=2**31 - 1)
    title = forms.CharField(required=False, max_length=TITLE_CHARACTERS_MAX)
    content = TextField(
        label="Text",
        max_length=CONTENT_CHARACTERS_MAX,
        widget=forms.Textarea(attrs={"rows": 10}),
    )
    content_format = forms.ChoiceField(label="Written in", choices=ContentFormat.choices, required=False)
    tags = forms.CharField(
        required=False,
        max_length=TAGS_MAX * (TAG_CHARACTERS_MAX + 2),
        help_text="Separated by commas.",
        widget=forms.TextInput(attrs={"autocapitalize": "none"}),
    )
    in_reply_to = AddressesField(label="In reply to", help_text="The address of what this answers.")
    rsvp = forms.ChoiceField(
        label="Answer to an invitation",
        choices=[("", "None"), ("yes", "Yes"), ("no", "No"), ("maybe", "Maybe"), ("interested", "Interested")],
        required=False,
        help_text="The event is the address in “In reply to”.",
    )
    like_of = AddressesField(label="Like of")
    repost_of = AddressesField(label="Repost of")
    bookmark_of = AddressesField(label="Bookmark of")
    summary = TextField(
        max_length=CONTENT_CHARACTERS_MAX,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Shown in lists and feeds instead of the beginning of the text.",
    )
    published = forms.CharField(
        required=False,
        label="Date",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
    )
    visibility = forms.ChoiceField(choices=Visibility.choices, required=False)
    slug = forms.CharField(
        required=False,
        label="Last part of the address",
        max_length=SLUG_CHARACTERS_MAX,
        help_text="Made from the title or text where it is empty. Old addresses keep working.",
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )
    syndication = AddressesField(label="Copies elsewhere", help_text="Where else this post is, one address a line.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - Django's
        super().__init__(*args, **kwargs)
        self.fields[
            "published"
        ].help_text = (
            f"In the time zone {timezone.get_current_timezone_name()}. Empty: now. In the future: published then."
        )

    def clean_published(self) -> datetime | None:
        text = self.cleaned_data["published"]
        if not text or "published" not in self.changed_data:
            return None
        try:
            at = datetime.fromisoformat(text)
            at = at if timezone.is_aware(at) else timezone.make_aware(at)
            # What cannot be said in UTC cannot be stored.
            return timezone.localtime(at)
        except (ValueError, OverflowError) as error:
            raise ValidationError(f"“{text[:50]}” is no time; valid is one like 2026-11-30T12:00.") from error

    def clean_tags(self) -> tuple[str, ...]:
        tags = tuple(dict.fromkeys(name for tag in self.cleaned_data["tags"].split(",") if (name := tag.strip())))
        if len(tags) > TAGS_MAX:
            raise ValidationError(f"These are {len(tags)} tags; valid are at most {TAGS_MAX}.")
        for tag in tags:
            if len(tag) > TAG_CHARACTERS_MAX:
                raise ValidationError(f"A tag has {len(tag)} characters; valid are at most {TAG_CHARACTERS_MAX}.")
        return tags

    def edited(self, entry: Entry, *, status: Status) -> Entry:
        """Return the entry with what the author has changed in the form, which must be valid."""
        changed = {name: self.cleaned_data[name] for name in self.changed_data}
        is_rewritten = "content" in changed or bool(changed.get("content_format"))
        return replace(
            entry,
            title=changed.get("title", entry.title),
            summary=changed.get("summary", entry.summary),
            content=self._content() if is_rewritten else entry.content,
            tags=changed.get("tags", entry.tags),
            published_at=changed.get("published", entry.published_at),
            status=status,
            visibility=Visibility(changed.get("visibility") or entry.visibility),
            slug=changed.get("slug") or entry.slug,
            properties=_edited_properties(entry.properties, changed),
        )

    def add_property_error(self, name: str, message: str) -> None:
        """Show what is wrong with a property at its field, else above the form."""
        self.add_error(_FIELDS.get(name), message)

    def _content(self) -> Content | None:
        source = self.cleaned_data["content"]
        form = self.cleaned_data["content_format"] or self.initial.get("content_format") or ContentFormat.MARKDOWN
        return Content(format=ContentFormat(form), source=source) if source.strip() else None


def new_token() -> str:
    """Return what makes the second sending of a form known."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def shown_values(entry: Entry) -> dict[str, str]:
    """Return what the form's fields show of the entry."""
    content = entry.content
    at = entry.published_at
    return {
        "title": entry.title.translate(_NO_LINE_BREAKS),
        "content": _with_line_feeds(content.source) if content else "",
        "content_format": str(content.format if content else ContentFormat.MARKDOWN),
        "tags": ", ".join(entry.tags).translate(_NO_LINE_BREAKS),
        "summary": _with_line_feeds(entry.summary),
        "published": timezone.localtime(at).strftime(_TIME_FORMAT) if at else "",
        "visibility": str(entry.visibility),
        "slug": entry.slug,
        "rsvp": str(next(iter(entry.properties.get("rsvp", [])), "")),
        **{field: "\n".join(_addresses(entry.properties.get(name, []))) for field, name in LINKS.items()},
    }


def _addresses(values: list[Any]) -> list[str]:
    return [url for value in values if (url := url_of(value))]


def _edited_properties(properties: dict[str, list[Any]], changed: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the properties with the changed addresses; of one that stays, all that is known of it stays."""
    edited = dict(properties)
    for field, name in LINKS.items():
        if field in changed:
            known = {url_of(value): value for value in properties.get(name, [])}
            edited[name] = [known.get(url, url) for url in dict.fromkeys(changed[field].splitlines())]
    if "rsvp" in changed:
        edited["rsvp"] = [changed["rsvp"]] if changed["rsvp"] else []
    return {name: values for name, values in edited.items() if values}


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and len(text) <= URL_CHARACTERS_MAX
    except ValueError:
        return False
