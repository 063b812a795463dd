"""Notices: authors are told by mail what has become of their images, once for each time it happens.

The news comes by signal as soon as it is true. A signal that a kill has swallowed is made up for by `tell_missed`,
which looks at the rows; the keys of the mails say which have been told.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.dispatch import receiver
from django.utils import timezone

from vernier.mail.conf import mail_settings
from vernier.mail.exceptions import UnusableAddress
from vernier.mail.models import Mail
from vernier.mail.outbox import enqueue_mail
from vernier.media.models import Version
from vernier.media.signals import renditions_lost, version_failed

if TYPE_CHECKING:
    from uuid import UUID

# A notice is of use as long as the author remembers the upload; reconcile looks back so far.
LOOK_BACK = timedelta(days=1)
BATCH_ROWS = 500

_FAILED_TEXT = """\
An image that you have uploaded to {host} could not be processed.

{reason}

Uploaded: {accepted_at}
Choose another file: {site}/editor/media/{media_id}
Address of the image: {site}/media/{media_id}
Your uploads: {site}/editor/media
"""
_LOST_TEXT = """\
Files of an image on {host} are lost, and cannot be made again. Pages leave the image out.

Please upload the original once more, in the place of this image: it comes back at the same address.

Choose another file: {site}/editor/media/{media_id}
Address of the image: {site}/media/{media_id}
Your uploads: {site}/editor/media
"""


@receiver(version_failed)
def tell_of_failure(media_id: UUID, number: int, **_: Any) -> None:  # noqa: ANN401 - a signal's arguments
    """Mail the author why their upload has failed."""
    version = _find(media_id, number)
    if version is not None and version.status == Version.Status.FAILED:
        _tell_failed(version)


@receiver(renditions_lost)
def tell_of_loss(media_id: UUID, number: int, **_: Any) -> None:  # noqa: ANN401 - a signal's arguments
    """Mail the author that an image of theirs has to be uploaded again."""
    version = _find(media_id, number)
    if version is not None and version.lost_at is not None:
        _tell(version, key=_key(version, "lost", version.lost_at), subject="An image is lost", text=_LOST_TEXT)


def tell_missed(now: datetime | None = None) -> int:
    """Mail what the signals of the last day have not; return how much that was."""
    now = now or timezone.now()
    if not mail_settings().enabled:
        return 0
    failed = list(
        Version.objects.filter(status=Version.Status.FAILED, failed_at__gt=now - LOOK_BACK)
        .exclude(media__owner__email="")
        .select_related("media__owner")
        .order_by("-failed_at")[:BATCH_ROWS]
    )
    told = set(Mail.objects.filter(key__in=map(_failure_key, failed)).values_list("key", flat=True))
    return sum(_tell_failed(version) for version in failed if _failure_key(version) not in told)


def _find(media_id: UUID, number: int) -> Version | None:
    return Version.objects.select_related("media__owner").filter(media_id=media_id, number=number).first()


def _tell_failed(version: Version) -> bool:
    reason = version.get_failure_code_display()
    return _tell(version, key=_failure_key(version), subject="Your upload failed", text=_FAILED_TEXT, reason=reason)


def _tell(version: Version, *, key: str, subject: str, text: str, **facts: str) -> bool:
    """Mail the owner; return whether there is a new mail."""
    owner, conf = version.media.owner, mail_settings()
    if not owner.email or not owner.is_active or version.media.deleted_at is not None:
        return False
    filled = text.format(
        host=conf.site_host,
        site=conf.site_url,
        media_id=version.media_id,
        accepted_at=f"{timezone.localtime(version.accepted_at):%d %B %Y, %H:%M %Z}",
        **facts,
    )
    try:
        return enqueue_mail(to=owner.email, subject=subject, text=filled, key=key)
    except UnusableAddress:
        # The editor shows it all the same.
        return False


def _failure_key(version: Version) -> str:
    return _key(version, "failed", version.failed_at)


def _key(version: Version, event: str, at: datetime | None) -> str:
    """Return what tells this failure from one after "process again"."""
    return f"{version.media_id}:{version.number}:{event}:{'' if at is None else at.isoformat()}"
