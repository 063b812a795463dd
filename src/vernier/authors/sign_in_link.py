"""One-time links: whoever has one is let in once."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from vernier.authors.models import Author, SignInLink
from vernier.authors.secret import hash_secret, new_secret

# Long enough to be sent to somebody, short enough to be forgotten.
VALID_FOR = timedelta(hours=24)


def issue_sign_in_link(author: Author, *, now: datetime) -> str:
    """Make a link for the author and return its path, which is shown this once."""
    return _issue(author, now)


def invite_first_author(*, now: datetime) -> str | None:
    """Make the link that makes the first author and return its path, or None where there is an author.

    Only the newest one is valid: each start of the server prints its own.
    """
    with transaction.atomic():
        if Author.objects.exists():
            return None
        SignInLink.objects.filter(author=None).delete()
        return _issue(None, now)


def find_link(secret: str) -> SignInLink | None:
    """Return the link with this secret, usable or not, with its author. The look-up goes by the hash."""
    return SignInLink.objects.select_related("author").filter(sha256=hash_secret(secret)).first()


def is_usable(link: SignInLink, *, now: datetime) -> bool:
    """Tell whether the link still lets somebody in; one that makes the first author does not once there is one."""
    is_late = link.author_id is None and Author.objects.exists()
    return not is_late and SignInLink.objects.usable(now).filter(pk=link.pk).exists()


def use_link(link: SignInLink, *, now: datetime) -> bool:
    """Use the link up; False where it is not usable any more, or somebody else was first."""
    if not is_usable(link, now=now):
        return False
    return bool(SignInLink.objects.filter(pk=link.pk, used_at=None).update(used_at=now))


def _issue(author: Author | None, now: datetime) -> str:
    secret = new_secret()
    SignInLink.objects.create(author=author, sha256=hash_secret(secret), created_at=now, expires_at=now + VALID_FOR)
    return f"/sign-in/{secret}"
