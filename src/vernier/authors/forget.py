"""Forget: sessions, links and codes that nobody can use any more."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.contrib.sessions.models import Session
from django.utils import timezone

from vernier.authors.models import SignInCode, SignInLink

if TYPE_CHECKING:
    from django.db.models import QuerySet

# Rows of each kind that one run deletes, in short transactions; what is left is the next run's.
BATCH_ROWS = 1000
# For so long somebody who opens an old link is told that it is over, and not that there is nothing.
LINKS_KEPT = timedelta(days=30)


def forget_expired(now: datetime | None = None) -> int:
    """Delete what has expired, and write nothing where nothing has; return how much it was."""
    now = now or timezone.now()
    expired: tuple[QuerySet[Any], ...] = (
        Session.objects.filter(expire_date__lt=now),
        SignInCode.objects.filter(expires_at__lt=now),
        SignInLink.objects.filter(expires_at__lt=now - LINKS_KEPT),
    )
    return sum(forget_some(rows) for rows in expired)


def forget_some(rows: QuerySet[Any]) -> int:
    """Delete a batch of the rows and return how many; write nothing where there are none."""
    ids = set(rows.values_list("pk", flat=True)[:BATCH_ROWS])
    if ids:
        rows.model.objects.filter(pk__in=ids).delete()
    return len(ids)
