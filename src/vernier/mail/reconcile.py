"""Reconcile: mail that has lost its job is rung again, and mail that is over ends.

Every query goes by a partial index over what is unsent, every step takes a bounded batch, and nothing is written
where nothing is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from django.db import transaction
from django.utils import timezone

from vernier.mail.conf import mail_settings
from vernier.mail.jobs import ring
from vernier.mail.models import Mail
from vernier.mail.send import EXPIRED, TRIED_FOR, fail, is_paused

# Rows of each kind that one run takes; what is left is the next run's.
BATCH_ROWS = 100
# A worker that is busy with images has not come to the mail yet: the next ring waits, each time twice as long, but
# not so long that a mail waits for hours when the mail server is back.
RING_FIRST = timedelta(minutes=1)
RING_MAX = timedelta(hours=1)
# Mail that has ended and that no key protects from being sent again is of interest for so long.
KEPT = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class MailReconciled:
    """How much of each kind one run has found and put right."""

    ended: int
    rung: int
    forgotten: int


def reconcile_mail(now: datetime | None = None) -> MailReconciled:
    """End what is over, enqueue lost work again, delete what nobody needs any more; return the counts."""
    now = now or timezone.now()
    return MailReconciled(ended=end_over(now), rung=ring_overdue(now), forgotten=forget(now))


def end_over(now: datetime) -> int:
    """Fail the mail that has expired or was tried for too long; return how many."""
    over = Mail.objects.over(now=now, accepted_before=now - TRIED_FOR)
    return sum(fail(over, mail, mail.failure_detail or EXPIRED, now=now) for mail in list(over[:BATCH_ROWS]))


def find_overdue_mail(now: datetime) -> list[Mail]:
    """Return a batch of the due mail whose last job has come to nothing.

    None while the mail server is in a pause: a job would end at once.
    """
    if not mail_settings().enabled or is_paused(now):
        return []
    due = Mail.objects.due(now=now).order_by("next_attempt_at").iterator(chunk_size=BATCH_ROWS)
    return list(islice((mail for mail in due if _is_unheard(mail, now)), BATCH_ROWS))


def ring_overdue(now: datetime) -> int:
    """Enqueue a job for each mail of a batch that is overdue; return how many."""
    overdue = find_overdue_mail(now)
    for mail in overdue:
        with transaction.atomic():
            Mail.objects.filter(pk=mail.pk).update(rung_at=now, rings=mail.rings + 1)
            ring(mail)
    return len(overdue)


def forget(now: datetime) -> int:
    """Delete mail without a key that ended long ago; return how many.

    Mail with a key stays: the key says that it was sent.
    """
    old = Mail.objects.filter(key=None, created_at__lte=now - KEPT).exclude(sent_at=None, failed_at=None)
    ids = list(old.order_by("created_at").values_list("pk", flat=True)[:BATCH_ROWS])
    if ids:
        Mail.objects.filter(pk__in=ids).delete()
    return len(ids)


def _is_unheard(mail: Mail, now: datetime) -> bool:
    """Tell whether the last job was enqueued so long ago that another one does no harm."""
    interval = min(RING_MAX, RING_FIRST * 2 ** min(mail.rings, 10))
    # A time in the future means that a clock went back.
    return not now - interval < mail.rung_at <= now
