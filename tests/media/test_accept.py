"""What a caller of `accept_upload` can rely on."""

from __future__ import annotations

import errno
import hashlib
import threading
from datetime import timedelta
from unittest import mock

import pytest
from django.db import OperationalError, connection, transaction
from django_ox.models import OxTask

from tests.media.factory import NOW, author, image_bytes
from vernier.media import accept_upload
from vernier.media.accept import Upload
from vernier.media.exceptions import (
    NoSpace,
    UploadEmpty,
    UploadKeyInvalid,
    UploadKeyReused,
    UploadTooLarge,
    UploadTypeRefused,
)
from vernier.media.jobs import ring
from vernier.media.models import Media, Version
from vernier.media.storages import DurableWriter, staging_storage

pytestmark = pytest.mark.django_db(transaction=True)

PHOTO = image_bytes()


@pytest.fixture
def staged():
    """Names the files that wait in staging."""
    for name in staging_storage().listdir("")[1]:
        staging_storage().delete(name)
    return lambda: staging_storage().listdir("")[1]


@pytest.fixture(autouse=True)
def _staging(settings, tmp_path):
    settings.STORAGES = {
        **settings.STORAGES,
        "staging": {
            "BACKEND": "vernier.media.storages.DurableFileSystemStorage",
            "OPTIONS": {"location": str(tmp_path)},
        },
    }
    tmp_path.mkdir(exist_ok=True)


def chunks(content, size=100):
    return (content[at : at + size] for at in range(0, len(content), size))


def test_accept__keeps_the_very_bytes(staged):
    accepted = accept_upload(chunks(PHOTO, 7), owner=author())
    version = Version.objects.get(media_id=accepted.media_id, number=1)
    with staging_storage().open(version.staging_key) as original:
        assert original.read() == PHOTO
    assert (version.sha256, version.byte_size) == (hashlib.sha256(PHOTO).hexdigest(), len(PHOTO))
    assert staged() == [version.staging_key]


def test_j1__job_and_row_come_in_one_transaction(staged):
    accepted = accept_upload([PHOTO], owner=author())
    assert OxTask.objects.get().args == [str(accepted.media_id), 1]
    assert Version.objects.get().status == "pending"


def test_accept__within_a_transaction_is_refused(staged):
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"):
        accept_upload([PHOTO], owner=author())
    assert (Media.objects.count(), OxTask.objects.count(), staged()) == (0, 0, [])


def test_accept__failed_fsync_of_the_directory_leaves_nothing(staged):
    broken = mock.patch("vernier.media.storages._fsync_directory", side_effect=[OSError(errno.EIO, "broken"), None])
    with broken, pytest.raises(OSError, match="broken"):
        accept_upload([PHOTO], owner=author())
    assert (Media.objects.count(), staged()) == (0, [])


@pytest.mark.parametrize("failure", [OperationalError("database is locked"), ZeroDivisionError()])
def test_accept__failed_transaction_leaves_nothing(staged, failure):
    with mock.patch("vernier.media.record.ring", side_effect=failure), pytest.raises(type(failure)):
        accept_upload([PHOTO], owner=author())
    assert (Media.objects.count(), OxTask.objects.count(), staged()) == (0, 0, [])


def test_accept__lost_answer_of_the_commit_keeps_the_file(staged):
    """The transaction was committed although the caller was told otherwise: the row needs its original."""

    def ring_and_lose_the_answer(version):
        transaction.on_commit(lambda: (_ for _ in ()).throw(OperationalError("connection lost")))
        ring(version)

    with mock.patch("vernier.media.record.ring", ring_and_lose_the_answer), pytest.raises(OperationalError):
        accept_upload([PHOTO], owner=author())
    assert staged() == [Version.objects.get().staging_key]


def test_accept__empty_file_is_refused(staged):
    with pytest.raises(UploadEmpty, match="0 bytes"):
        accept_upload([], owner=author())
    with pytest.raises(UploadEmpty):
        accept_upload([b"", b""], owner=author())
    assert staged() == []


@pytest.mark.parametrize(
    "content", [b"<html><script>alert(1)</script></html>", b"%PDF-1.7 " + b"x" * 500, b"<svg/>", b"\xff", b"BM" * 99]
)
def test_accept__other_types_are_refused_before_the_store_is_touched(staged, content):
    with mock.patch("vernier.media.accept.create") as create, pytest.raises(UploadTypeRefused, match="JPEG, PNG"):
        accept_upload([content], owner=author())
    assert not create.called


def test_accept__type_is_refused_while_the_rest_is_still_coming(staged):
    def body():
        yield b"GIF89a" + b"\0" * 100
        pytest.fail("more was read than it takes to know")

    with pytest.raises(UploadTypeRefused, match="GIF"):
        accept_upload(body(), owner=author())


def test_accept__heic_is_refused_with_advice(staged):
    with pytest.raises(UploadTypeRefused, match="HEIC.*Most compatible"):
        accept_upload([b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + b"\0" * 99], owner=author())


def test_accept__ceiling_stops_the_transfer(staged, settings):
    settings.VERNIER_MEDIA = {"UPLOAD_MAX_BYTES": 1000}
    taken = []

    def body():
        for chunk in chunks(PHOTO + b"\0" * 5000, 300):
            taken.append(len(chunk))
            yield chunk

    with pytest.raises(UploadTooLarge, match="1000 bytes"):
        accept_upload(body(), owner=author())
    assert (sum(taken), staged()) == (1200, [])


def test_accept__exactly_the_ceiling_is_fine(staged, settings):
    settings.VERNIER_MEDIA = {"UPLOAD_MAX_BYTES": len(PHOTO)}
    assert accept_upload([PHOTO], owner=author()).created


def test_u1__retry_with_the_same_key_is_the_same_media(staged):
    first = accept_upload([PHOTO], owner=author(), idempotency_key="one")
    again = accept_upload([PHOTO], owner=author(), idempotency_key="one")
    assert (first.created, again.created) == (True, False)
    assert first.media_id == again.media_id
    assert (Media.objects.count(), OxTask.objects.count(), len(staged())) == (1, 1, 1)


def test_u1__key_of_other_bytes_is_refused(staged):
    accept_upload([PHOTO], owner=author(), idempotency_key="one")
    with pytest.raises(UploadKeyReused, match="other bytes"):
        accept_upload([image_bytes(9, 9)], owner=author(), idempotency_key="one")
    assert (Media.objects.count(), len(staged())) == (1, 1)


def test_accept__keys_of_two_authors_are_two_keys(staged):
    first = accept_upload([PHOTO], owner=author("alice"), idempotency_key="one")
    second = accept_upload([PHOTO], owner=author("bob"), idempotency_key="one")
    assert first.media_id != second.media_id


def test_accept__key_is_forgotten_after_a_day(staged):
    def at(now):
        with Upload() as upload:
            upload.write(PHOTO)
            return upload.accept(owner=author(), idempotency_key="one", now=now)

    first, kept, forgotten = at(NOW), at(NOW + timedelta(hours=23)), at(NOW + timedelta(hours=25))
    assert first.media_id == kept.media_id != forgotten.media_id


@pytest.mark.parametrize("key", ["", "x" * 256, "naïve", "a\nb"])
def test_accept__malformed_key_is_refused(staged, key):
    with pytest.raises(UploadKeyInvalid, match="1 to 255"):
        accept_upload([PHOTO], owner=author(), idempotency_key=key)
    assert staged() == []


def test_u2__simultaneous_uploads_with_one_key_are_one_media(staged):
    owner, answers = author(), []

    def upload():
        try:
            answers.append(accept_upload(chunks(PHOTO), owner=owner, idempotency_key="race"))
        finally:
            connection.close()

    threads = [threading.Thread(target=upload) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 6
    assert len({answer.media_id for answer in answers}) == sum(answer.created for answer in answers) == 1
    assert (Media.objects.count(), len(staged())) == (1, 1)


@pytest.mark.parametrize("method", ["write", "commit"])
def test_accept__full_disk_is_named(staged, method):
    full = OSError(errno.ENOSPC, "No space left on device")
    with mock.patch.object(DurableWriter, method, side_effect=full), pytest.raises(NoSpace):
        accept_upload([PHOTO], owner=author())
    assert (Media.objects.count(), staged()) == (0, [])


def test_accept__interrupted_upload_leaves_nothing(staged):
    def body():
        yield PHOTO[:200]
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        accept_upload(body(), owner=author())
    assert staged() == []
