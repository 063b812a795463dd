"""Deliver: one mail handed to the mail server, and what its answer means."""

from __future__ import annotations

import smtplib
from contextlib import contextmanager, suppress
from email.utils import format_datetime
from typing import TYPE_CHECKING

from django.core.mail import EmailMessage, mailers

from vernier.mail.conf import mail_settings
from vernier.mail.exceptions import Deferred, Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from django.core.mail.backends.base import BaseEmailBackend

    from vernier.mail.models import Mail

# RFC 5321 section 4.2.1: an answer from here on is final.
_PERMANENT_CODE_MIN = 500


def deliver(mail: Mail) -> None:
    """Return when the mail server has taken the mail; raise Refused, Deferred or Unavailable."""
    message = _message(mail)
    with _connection() as connection:
        try:
            connection.send_messages([message])
        except smtplib.SMTPRecipientsRefused as error:
            raise _answer((code for code, _ in error.recipients.values()), error) from error
        except smtplib.SMTPDataError as error:
            raise _answer([error.smtp_code], error) from error
        except OSError as error:
            # The sender was refused, or the connection has broken: it would be the same with any other mail.
            raise Unavailable(_describe(error)) from error
        except ValueError as error:
            # An address or a header that no mail can have.
            raise Refused(_describe(error)) from error


def message_id(mail: Mail) -> str:
    """Return the same Message-ID for each attempt: a mail that arrives twice is recognised."""
    host = mail_settings().site_host
    # RFC 5322 section 3.6.4: an IPv6 address or a host in another script cannot stand there as it is.
    return f"<{mail.pk}@{host if host.isascii() and ':' not in host else 'localhost'}>"


def _message(mail: Mail) -> EmailMessage:
    headers = {
        "Message-ID": message_id(mail),
        "Date": format_datetime(mail.created_at),
        # RFC 3834 section 5: nothing answers it by itself.
        "Auto-Submitted": "auto-generated",
    }
    return EmailMessage(subject=mail.subject, body=mail.text, to=[mail.to], headers=headers)


@contextmanager
def _connection() -> Iterator[BaseEmailBackend]:
    """Yield an open connection; raise Unavailable. What the server says to a goodbye changes nothing."""
    connection = mailers.default
    try:
        connection.open()
    except (OSError, UnicodeError) as error:
        # The latter for a name of the server that the codec of names refuses.
        raise Unavailable(_describe(error)) from error
    try:
        yield connection
    finally:
        with suppress(OSError):
            connection.close()


def _answer(codes: Iterable[int], error: smtplib.SMTPException) -> Refused | Deferred:
    kind = Refused if all(code >= _PERMANENT_CODE_MIN for code in codes) else Deferred
    return kind(_describe(error))


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
