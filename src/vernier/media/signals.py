"""Signals: news for apps that know this one, which knows none of them.

Each is sent after its transaction has committed, and not at all where the process is killed in between: who must
not miss anything looks at the rows now and then. What a receiver raises is logged and changes nothing here.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction
from django.dispatch import Signal

if TYPE_CHECKING:
    from vernier.media.models import Version

# Arguments of each: `media_id` (UUID) and `number` (int), which name a Version.

# It is Ready and served from now on.
version_ready = Signal()
# It has failed, whoever has found that out.
version_failed = Signal()
# Files of what is served are lost and cannot be made again, so its author has to upload it once more. Sent when the
# first of them is given up, not for each.
renditions_lost = Signal()


def send_on_commit(signal: Signal, version: Version) -> None:
    """Send the news when the caller's transaction has committed, or at once where there is none."""
    send = partial(signal.send_robust, sender=type(version), media_id=version.media_id, number=version.number)
    transaction.on_commit(send, robust=True)
