"""Mail that is in the outbox, and times around it."""

from datetime import UTC, datetime, timedelta

from django_ox.models import OxTask

from vernier.mail.models import Mail
from vernier.mail.outbox import enqueue_mail
from vernier.mail.send import send_mail

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def at(**delay):
    return NOW + timedelta(**delay)


def enqueue(**more):
    """Return a new mail of the outbox."""
    before = set(Mail.objects.values_list("pk", flat=True))
    assert enqueue_mail(**{"to": "ann@example.net", "subject": "News", "text": "Hello.", "now": NOW, **more})
    return Mail.objects.exclude(pk__in=before).get()


def send(mail, *, now=NOW):
    """Let a job for the mail run at that time; return the row as it is then."""
    send_mail(mail.pk, clock=lambda: now)
    mail.refresh_from_db()
    return mail


def jobs():
    """Return the ids of the mails that waiting jobs name."""
    return [job.args[0] for job in OxTask.objects.order_by("enqueued_at")]
