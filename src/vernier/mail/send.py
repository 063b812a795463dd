"""Send: from a due mail to one that is sent, failed or put off.

A mail server that does not answer costs a worker up to the time limit of the connection. Only one mail in PAUSE pays
that: while the pause lasts, jobs of other mail end without a connection and without a write, and reconcile rings
again what is due when it is over.
"""

from __future__ import annotations

import logging
import random
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from vernier.mail.conf import mail_settings
from vernier.mail.deliver import deliver
from vernier.mail.exceptions import DeliveryError, Refused, Unavailable
from vernier.mail.jobs import ring
from vernier.mail.models import BACKOFF_MAX, CLOCK_SLACK, Mail, MailQuerySet

logger = logging.getLogger("vernier.mail")

type Clock = Callable[[], datetime]

BACKOFF_FIRST = timedelta(minutes=1)
# A mail server that was down over a long weekend still gets everything.
TRIED_FOR = timedelta(days=3)
# Short enough for a sign-in code, which is valid for ten minutes, to have a second chance; and of a worker's time a
# dead server takes 20 s of 300.
PAUSE = timedelta(minutes=5)
FAILURE_DETAIL_CHARACTERS_MAX = 500
EXPIRED = "It was not sent in time."


def send_mail(mail_id: uuid.UUID, *, clock: Clock = timezone.now) -> None:
    """Send the mail if it is due, nobody else is sending it, and the mail server is not in a pause."""
    now, token = clock(), uuid.uuid4()
    if not mail_settings().enabled or is_paused(now):
        return
    row = Mail.objects.filter(pk=mail_id)
    if not row.claim(token=token, now=now):
        return
    mail, held = row.get(), row.held(token=token)
    if deadline(mail) <= now:
        fail(held, mail, EXPIRED, now=now)
        return
    try:
        deliver(mail)
    except Refused as error:
        fail(held, mail, str(error), now=clock())
    except DeliveryError as error:
        _put_off(held, mail, error, now=clock())
    else:
        _finish(held, mail, now=clock())


def is_paused(now: datetime) -> bool:
    """Tell whether the mail server took no mail at all so short a time ago that it is left alone."""
    return Mail.objects.unreachable(since=now - PAUSE, until=now + CLOCK_SLACK).exists()


def deadline(mail: Mail) -> datetime:
    """Return from when on the mail is not tried any more."""
    tried_until = mail.created_at + TRIED_FOR
    return tried_until if mail.expires_at is None else min(mail.expires_at, tried_until)


def fail(rows: MailQuerySet, mail: Mail, detail: str, *, now: datetime) -> bool:
    """End the mail as failed if it is among `rows`; return whether it was."""
    failed = rows.filter(pk=mail.pk).fail(now=now, detail=detail[:FAILURE_DETAIL_CHARACTERS_MAX])
    if failed:
        _log(logging.WARNING, "failed", mail, detail=detail)
    return failed


def backoff(attempts: int) -> timedelta:
    """Return the delay after so many attempts: doubled each time, up to the maximum, less a random part up to half.

    The random part keeps mails that were put off together from coming back together.
    """
    longest: timedelta = min(BACKOFF_MAX, BACKOFF_FIRST * 2 ** min(attempts - 1, 30))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, protects nothing


def _finish(held: MailQuerySet, mail: Mail, *, now: datetime) -> None:
    if held.finish(now=now):
        _log(logging.INFO, "sent", mail)
    # The server is there: what waited behind a pause need not wait for its next ring.
    Mail.objects.due(now=now).filter(rings__gt=0).update(rings=0)


def _put_off(held: MailQuerySet, mail: Mail, error: DeliveryError, *, now: datetime) -> None:
    is_unreachable = isinstance(error, Unavailable)
    at = now + max(backoff(mail.attempts), PAUSE if is_unreachable else timedelta())
    if at >= deadline(mail):
        fail(held, mail, str(error), now=now)
        return
    detail = str(error)[:FAILURE_DETAIL_CHARACTERS_MAX]
    with transaction.atomic():
        if not held.put_off(at=at, detail=detail, unreachable_at=now if is_unreachable else None):
            return
        ring(mail, at=at)
    _log(logging.WARNING, "put off", mail, detail=detail, at=at.isoformat())


def _log(level: int, event: str, mail: Mail, **facts: object) -> None:
    """Write one line that names the mail by its id, and not by its address or subject."""
    tail = "".join(f" {name}={value}" for name, value in facts.items())
    extra = {"event": f"mail_{event.replace(' ', '_')}", "mail": str(mail.pk), "attempt": mail.attempts, **facts}
    logger.log(level, "mail %s mail=%s attempt=%d%s", event, mail.pk, mail.attempts, tail, extra=extra)
