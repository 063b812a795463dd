"""Ring: enqueue the jobs of this app, as part of the caller's transaction.

The task is named by its path, as the task engine stores it: what it runs enqueues jobs in turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.module_loading import import_string

from vernier.mail.conf import mail_settings

if TYPE_CHECKING:
    from datetime import datetime

    from django.tasks import Task

    from vernier.mail.models import Mail

SEND = "vernier.mail.tasks.send"
# Somebody waits for a mail that expires, a sign-in code: it goes before images. Any other mail goes after them.
URGENT, PATIENT = 10, -10


def ring(mail: Mail, *, at: datetime | None = None) -> None:
    """Have the mail sent, at once or at a time."""
    task: Task[..., None] = import_string(SEND)
    priority = PATIENT if mail.expires_at is None else URGENT
    task.using(run_after=at, priority=priority, queue_name=mail_settings().queue).enqueue(str(mail.pk))
