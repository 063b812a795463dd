"""Ring: enqueue the jobs of this app, as part of the caller's transaction.

The task is named by its path, as the task engine stores it: what it runs is what rings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.module_loading import import_string

from vernier.mail.conf import mail_settings
from vernier.mail.jobs import URGENT

if TYPE_CHECKING:
    from django.tasks import Task

    from vernier.authors.models import SignInCode

MAIL_CODE = "vernier.authors.tasks.mail_code"


def ring_code(code: SignInCode) -> None:
    """Have the code drawn and mailed."""
    task: Task[..., None] = import_string(MAIL_CODE)
    task.using(priority=URGENT, queue_name=mail_settings().queue).enqueue(code.pk)
