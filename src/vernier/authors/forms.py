"""The forms with which authors sign in and say who they are."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordForm, UsernameField
from django.contrib.auth.password_validation import password_validators_help_text_html, validate_password
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from vernier.authors.models import Author

# A profile is read by people; more is a mistake or mischief.
NOTE_CHARACTERS_MAX = 2000
LINKS_MAX = 20
LINK_CHARACTERS_MAX = 500
# What somebody types as a code, with spaces in it.
_CODE_CHARACTERS_MAX = 20
_LOGIN_CHARACTERS_MAX = 254

_is_web_address = URLValidator(schemes=["http", "https"])


class LoginForm(AuthenticationForm):
    """User name and password; what is wrong with them is not told."""

    error_messages = {
        "invalid_login": "There is no author with this user name and this password.",
        "inactive": "There is no author with this user name and this password.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - Django's signature
        super().__init__(*args, **kwargs)
        self.fields["username"].label = "User name"


class AskCodeForm(forms.Form):
    """Who wants to sign in by code."""

    name = forms.CharField(
        label="User name or e-mail address",
        max_length=_LOGIN_CHARACTERS_MAX,
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
    )


class CodeForm(forms.Form):
    """The code that was mailed."""

    code = forms.CharField(
        label="Code",
        max_length=_CODE_CHARACTERS_MAX,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )


class FirstAuthorForm(forms.ModelForm):  # type: ignore[type-arg]
    """The first author of the site; without a password they sign in by link or code."""

    password = forms.CharField(
        label="Password (optional)",
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=password_validators_help_text_html,
    )

    class Meta:
        model = Author
        fields = ("username", "display_name")
        field_classes = {"username": UsernameField}
        labels = {"username": "User name", "display_name": "Name that readers see (optional)"}
        help_texts = {"username": "Letters, digits and @ . + - _ only. It is part of addresses."}

    def clean_password(self) -> str | None:
        password: str = self.cleaned_data["password"]
        if not password:
            return None
        validate_password(password, Author(username=self.cleaned_data.get("username", "")))
        return password


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]
    """What readers see of the author."""

    links = forms.CharField(
        label="Your addresses elsewhere",
        required=False,
        widget=forms.Textarea(attrs={"rows": 5, "autocomplete": "off"}),
        help_text="One per line, such as https://social.example/@me. Your pages link them as being you.",
    )

    class Meta:
        model = Author
        fields = ("display_name", "note")
        labels = {"display_name": "Name", "note": "About you"}
        widgets = {
            "display_name": forms.TextInput(attrs={"autocomplete": "name"}),
            "note": forms.Textarea(attrs={"rows": 5, "maxlength": NOTE_CHARACTERS_MAX}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - Django's signature
        super().__init__(*args, **kwargs)
        self.initial["links"] = "\n".join(self.instance.links)

    def clean_note(self) -> str:
        note: str = self.cleaned_data["note"]
        if len(note) > NOTE_CHARACTERS_MAX:
            raise ValidationError(f"The text has {len(note)} characters; valid are {NOTE_CHARACTERS_MAX} at most.")
        return note

    def clean_links(self) -> list[str]:
        """Return the addresses in their order, each once."""
        lines = self.cleaned_data["links"].splitlines()
        links = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
        if len(links) > LINKS_MAX:
            raise ValidationError(f"There are {len(links)} addresses; valid are {LINKS_MAX} at most.")
        for link in links:
            _require_web_address(link)
        return links

    def save_profile(self) -> None:
        """Write the columns of the profile and no others: somebody else may be writing those."""
        self.instance.links = self.cleaned_data["links"]
        self.instance.save(update_fields=["display_name", "note", "links"])


class EmailForm(forms.ModelForm):  # type: ignore[type-arg]
    """The address to which codes and notices go. Whoever reads mail there can sign in: the password is asked for."""

    password = forms.CharField(
        label="Your password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    class Meta:
        model = Author
        fields = ("email",)
        labels = {"email": "E-mail address"}
        widgets = {"email": forms.EmailInput(attrs={"autocomplete": "email"})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - Django's signature
        super().__init__(*args, **kwargs)
        if not self.instance.has_usable_password():
            del self.fields["password"]

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if not self.instance.check_password(password):
            raise ValidationError("This is not your password.")
        return password

    def save_email(self) -> None:
        self.instance.save(update_fields=["email"])


def password_form(author: Author, data: Any, *, is_let_off: bool) -> SetPasswordForm[Author]:  # noqa: ANN401 - Django's signature
    """Return the form for a new password, which asks for the old one where there is one and it may be known."""
    if is_let_off or not author.has_usable_password():
        return SetPasswordForm(author, data)
    return PasswordChangeForm(author, data)


def _require_web_address(link: str) -> None:
    try:
        _is_web_address(link)
    except ValidationError as error:
        raise ValidationError(
            f"{link!r} is no address; valid is one that begins with https:// or http://."
        ) from error
    if len(link) > LINK_CHARACTERS_MAX:
        raise ValidationError(f"An address has more than {LINK_CHARACTERS_MAX} characters.")
