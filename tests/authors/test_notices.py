"""Authors learn by mail what has become of their images, once each time."""

from datetime import timedelta

import pytest
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.media_api.factory import make_media
from vernier.authors.models import Author
from vernier.authors.notices import tell_missed
from vernier.engines.ox import drain
from vernier.mail.models import Mail
from vernier.media import accept_upload
from vernier.media.failures import FailureCode
from vernier.media.models import Media, Version
from vernier.media.signals import renditions_lost, version_failed
from vernier.media.storages import staging_storage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("mail_enabled")]

JPEG_HEAD = b"\xff\xd8\xff\xe0" + b"\x00" * 2000


@pytest.fixture
def failed(ann):
    """An upload whose failure nobody has told yet."""
    media = make_media(ann, status="failed", contents={})
    return media.versions.get()


def signal(version, signal=version_failed):
    signal.send_robust(sender=Version, media_id=version.media_id, number=version.number)


def test_failure__of_an_upload_is_mailed_with_its_reason(ann):
    accepted = accept_upload([JPEG_HEAD], owner=ann)
    staging_storage().delete(Version.objects.get().staging_key)
    drain()
    (message,) = mail.outbox
    assert message.to == ["ann@example.net"]
    assert message.subject == "Your upload failed"
    assert FailureCode.ORIGINAL_LOST.label in message.body
    assert f"https://example.org/media/{accepted.media_id}" in message.body


def test_failure__is_mailed_once(failed, clock):
    for _ in range(3):
        signal(failed)
        tell_missed(clock.now)
        drain()
    assert len(mail.outbox) == 1


def test_failure__a_second_one_is_news(failed, clock):
    signal(failed)
    Version.objects.update(failed_at=clock.now + timedelta(hours=1))
    signal(failed)
    assert Mail.objects.count() == 2


def test_failure__whose_signal_was_lost_is_found(failed, clock):
    assert tell_missed(clock.now) == 1
    assert tell_missed(clock.now) == 0
    drain()
    assert len(mail.outbox) == 1


def test_failure__of_long_ago_is_no_news(failed, clock):
    assert tell_missed(clock.now + timedelta(days=2)) == 0


@pytest.mark.parametrize("change", [{"email": ""}, {"is_active": False}, {"email": "no address"}])
def test_failure__nobody_to_tell(failed, clock, change):
    Author.objects.update(**change)
    signal(failed)
    assert tell_missed(clock.now) == 0
    assert not Mail.objects.exists()


def test_failure__of_an_image_that_was_deleted_meanwhile(failed, clock):
    Media.objects.update(deleted_at=clock.now)
    signal(failed)
    assert tell_missed(clock.now) == 0
    assert not Mail.objects.exists()


def test_failure__that_is_none_any_more(failed):
    Version.objects.update(status="superseded")
    signal(failed)
    assert not Mail.objects.exists()


def test_failure__without_a_mail_server(failed, clock, settings):
    settings.VERNIER_MAIL = {}
    signal(failed)
    assert tell_missed(clock.now) == 0
    assert not Mail.objects.exists()


def test_loss__is_mailed_once(ann, clock):
    version = make_media(ann).versions.get()
    Version.objects.update(lost_at=clock.now)
    for _ in range(2):
        signal(version, renditions_lost)
    drain()
    (message,) = mail.outbox
    assert "upload the original once more" in message.body


def test_missed__looks_without_writing(failed, clock):
    tell_missed(clock.now)
    with CaptureQueriesContext(connection) as queries:
        tell_missed(clock.now)
    assert len(queries) == 2
    assert all(query["sql"].startswith("SELECT") for query in queries)
