"""Outbox: from a text to a mail that will be sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone

from vernier.mail.conf import mail_settings
from vernier.mail.exceptions import UnusableAddress
from vernier.mail.jobs import ring
from vernier.mail.models import ADDRESS_CHARACTERS_MAX, SUBJECT_CHARACTERS_MAX, Mail

if TYPE_CHECKING:
    from datetime import datetime


def enqueue_mail(  # noqa: PLR0913 - each is a fact of its own
    *,
    to: str,
    subject: str,
    text: str,
    key: str | None = None,
    expires_at: datetime | None = None,
    is_secret: bool = False,
    now: datetime | None = None,
) -> bool:
    """Have a mail sent, as part of the caller's transaction if there is one; return whether it will be.

    It will not be where there is no mail server, and where there is a mail of this key already, sent or not. Raise
    UnusableAddress where `to` is not the address of one mailbox.
    """
    if not mail_settings().enabled:
        return False
    now = now or timezone.now()
    mail = Mail(
        to=_checked_address(to),
        subject=_one_line(subject),
        text=text,
        key=key,
        expires_at=expires_at,
        is_secret=is_secret,
        created_at=now,
        next_attempt_at=now,
        rung_at=now,
    )
    if key is not None and Mail.objects.filter(key=key).exists():
        return False
    try:
        with transaction.atomic():
            mail.save(force_insert=True)
            ring(mail)
    except IntegrityError:
        # Somebody else was first between the look and the insertion.
        if key is None or not Mail.objects.filter(key=key).exists():
            raise
        return False
    return True


def _checked_address(given: str) -> str:
    try:
        validate_email(given)
    except ValidationError as error:
        raise UnusableAddress(f"{given!r} is not the address of a mailbox.") from error
    if len(given) > ADDRESS_CHARACTERS_MAX:
        raise UnusableAddress(f"The address has more than {ADDRESS_CHARACTERS_MAX} characters.")
    return given


def _one_line(subject: str) -> str:
    """Return the subject without anything that could end the header, or that no font shows."""
    printable = "".join(character if character.isprintable() else " " for character in subject)
    return " ".join(printable.split())[:SUBJECT_CHARACTERS_MAX]
