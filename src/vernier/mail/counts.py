"""How the outbox is doing, for the operator."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min

from vernier.mail.models import Mail
from vernier.mail.send import is_paused

FAILED_WITHIN = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class MailCounts:
    """Mail that is still to be sent, mail that failed within a day, and whether the mail server is left alone."""

    unsent: int
    oldest_unsent_seconds: float | None
    failed: int
    is_paused: bool


def count_mail(now: datetime) -> MailCounts:
    """Return the counts, from the indexes of what is unsent and what has failed."""
    unsent = Mail.objects.unsent().aggregate(count=Count("pk"), oldest=Min("created_at"))
    oldest = unsent["oldest"]
    return MailCounts(
        unsent=unsent["count"],
        oldest_unsent_seconds=None if oldest is None else max(0.0, round((now - oldest).total_seconds(), 1)),
        failed=Mail.objects.filter(failed_at__gt=now - FAILED_WITHIN).count(),
        is_paused=is_paused(now),
    )
