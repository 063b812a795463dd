"""Accounts: new authors, and which author somebody means who types a name."""

from __future__ import annotations

import unicodedata

from django.core.exceptions import ValidationError
from django.db import transaction

from vernier.authors.models import Author


def create_author(name: str, *, email: str = "", display_name: str = "", password: str | None = None) -> Author:
    """Make an author, who without a password signs in by link or code; raise ValidationError for what is refused.

    The first author of a site is also its operator: only that one may use the admin.
    """
    with transaction.atomic():
        is_first = not Author.objects.exists()
        author = Author(
            username=name, email=email, display_name=display_name, is_staff=is_first, is_superuser=is_first
        )
        author.set_password(password)
        author.full_clean()
        _require_distinct(name)
        author.save()
    return author


def _require_distinct(name: str) -> None:
    """Raise ValidationError for a name that another one differs from in capitals only: readers would confuse them."""
    alike = Author.objects.filter(username__iexact=name).values_list("username", flat=True).first()
    if alike is not None:
        raise ValidationError({"username": f"The name {name} differs from that of {alike} in capitals only."})


def find_active_author(typed: str) -> Author | None:
    """Return the active author with this user name, or with this e-mail address if nobody else has it."""
    active = Author.objects.filter(is_active=True)
    name = unicodedata.normalize("NFKC", typed.strip())
    by_name = active.filter(username=name).first()
    if by_name is not None or "@" not in name:
        return by_name
    by_address = list(active.filter(email__iexact=name)[:2])
    return by_address[0] if len(by_address) == 1 else None
