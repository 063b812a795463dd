"""The outbox: a row per mail. The row is the truth, its jobs are doorbells."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.db.models import Case, F, Q, Value, When

# Longer than a conversation with a slow server takes: about ten answers, for each of which it has 20 s.
LEASE = timedelta(minutes=5)
# The longest delay between two attempts.
BACKOFF_MAX = timedelta(hours=6)
# A time that lies ahead by this much more than it can means that a clock went back.
CLOCK_SLACK = timedelta(seconds=60)
SUBJECT_CHARACTERS_MAX = 200
ADDRESS_CHARACTERS_MAX = 254

_UNSENT = Q(sent_at=None, failed_at=None)
_NO_LEASE: dict[str, Any] = {"lease_token": None, "lease_expires_at": None}


class MailQuerySet(models.QuerySet["Mail"]):
    def unsent(self) -> MailQuerySet:
        return self.filter(_UNSENT)

    def unclaimed(self, *, now: datetime) -> MailQuerySet:
        """Those that nobody is sending: without a lease, or under one that has expired or lasts longer than any."""
        is_gone = Q(lease_expires_at__lte=now) | Q(lease_expires_at__gt=now + LEASE + CLOCK_SLACK)
        return self.unsent().filter(Q(lease_expires_at=None) | is_gone)

    def due(self, *, now: datetime) -> MailQuerySet:
        """Those whose turn it is."""
        is_due = Q(next_attempt_at__lte=now) | Q(next_attempt_at__gt=now + BACKOFF_MAX + CLOCK_SLACK)
        return self.unclaimed(now=now).filter(is_due)

    def over(self, *, now: datetime, accepted_before: datetime) -> MailQuerySet:
        """Those that are not worth another attempt: expired, or tried for too long."""
        return self.unclaimed(now=now).filter(Q(expires_at__lte=now) | Q(created_at__lte=accepted_before))

    def unreachable(self, *, since: datetime, until: datetime) -> MailQuerySet:
        """Those whose last attempt has met a mail server that takes no mail at all."""
        return self.filter(unreachable_at__gt=since, unreachable_at__lte=until)

    def held(self, *, token: uuid.UUID) -> MailQuerySet:
        """Those under this lease. It may have expired: what has been sent is recorded if nobody else has begun."""
        return self.unsent().filter(lease_token=token)

    # Each of these is one guarded UPDATE; it returns whether it happened.

    def claim(self, *, token: uuid.UUID, now: datetime) -> bool:
        """Take the lease and count the attempt."""
        return bool(
            self.due(now=now).update(
                lease_token=token, lease_expires_at=now + LEASE, attempts=F("attempts") + 1, rings=0
            )
        )

    def finish(self, *, now: datetime) -> bool:
        return bool(self.update(**_NO_LEASE, sent_at=now, failure_detail="", text=_kept_text()))

    def fail(self, *, now: datetime, detail: str) -> bool:
        return bool(self.update(**_NO_LEASE, failed_at=now, failure_detail=detail, text=_kept_text()))

    def put_off(self, *, at: datetime, detail: str, unreachable_at: datetime | None) -> bool:
        """End the attempt and have another one at that time, for which a job is enqueued as well."""
        return bool(
            self.update(
                **_NO_LEASE,
                next_attempt_at=at,
                rung_at=at,
                failure_detail=detail,
                unreachable_at=unreachable_at,
            )
        )


def _kept_text() -> Case:
    """Empty a secret text: nobody needs it any more."""
    return Case(When(is_secret=True, then=Value("")), default=F("text"), output_field=models.TextField())


class Mail(models.Model):
    """A mail to one address; it has been sent, or has failed, or is still to be sent."""

    # Unguessable and never given again: the Message-ID is made of it.
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    to = models.CharField(max_length=ADDRESS_CHARACTERS_MAX)
    subject = models.CharField(max_length=SUBJECT_CHARACTERS_MAX)
    text = models.TextField(blank=True)
    # What the mail is about: nothing is mailed twice under one key.
    key = models.CharField(max_length=200, null=True, blank=True, unique=True)
    # The text is emptied as soon as the mail is sent or has failed.
    is_secret = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)

    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField()
    lease_token = models.UUIDField(null=True, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    # For when the last job was enqueued, and how often by reconcile since the last attempt.
    rung_at = models.DateTimeField()
    rings = models.PositiveIntegerField(default=0)
    # When an attempt has met a mail server that takes no mail at all.
    unreachable_at = models.DateTimeField(null=True, blank=True)

    sent_at = models.DateTimeField(null=True, blank=True)
    failed_at = models.DateTimeField(null=True, blank=True)
    # What ended it or, while it is unsent, what stopped the last attempt; for the operator.
    failure_detail = models.TextField(blank=True)

    objects = MailQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "mail"
        constraints = [
            models.CheckConstraint(condition=Q(sent_at=None) | Q(failed_at=None), name="mail_ends_once"),
            models.CheckConstraint(
                condition=Q(lease_token=None, lease_expires_at=None)
                | _UNSENT & Q(lease_token__isnull=False, lease_expires_at__isnull=False),
                name="mail_lease_while_unsent",
            ),
            models.CheckConstraint(
                condition=Q(is_secret=False) | _UNSENT | Q(text=""), name="mail_secret_is_emptied"
            ),
        ]
        indexes = [
            # What is still to be sent, whatever the number of mails that were.
            models.Index(fields=["next_attempt_at"], name="mail_unsent", condition=_UNSENT),
            models.Index(
                fields=["unreachable_at"], name="mail_unreachable", condition=Q(unreachable_at__isnull=False)
            ),
            models.Index(fields=["created_at"], name="mail_without_key", condition=Q(key=None)),
            models.Index(fields=["-failed_at"], name="mail_failed", condition=Q(failed_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.subject
