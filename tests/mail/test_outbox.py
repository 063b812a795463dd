"""What may be mailed, and that it is stored once."""

import pytest
from django.db import transaction
from django_ox.models import OxTask

from tests.mail.factory import NOW, at, enqueue, jobs
from vernier.mail.exceptions import UnusableAddress
from vernier.mail.models import Mail
from vernier.mail.outbox import enqueue_mail

pytestmark = pytest.mark.django_db(transaction=True)


def test_enqueue__stores_a_mail_and_a_job_for_it(mail_enabled):
    mail = enqueue()
    assert (mail.to, mail.subject, mail.text) == ("ann@example.net", "News", "Hello.")
    assert jobs() == [str(mail.pk)]


def test_enqueue__nothing_where_there_is_no_mail_server():
    assert not enqueue_mail(to="ann@example.net", subject="News", text="Hello.")
    assert not Mail.objects.exists()
    assert jobs() == []


def test_enqueue__goes_with_the_callers_transaction(mail_enabled):
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        enqueue()
        raise ZeroDivisionError
    assert not Mail.objects.exists()
    assert jobs() == []


def test_enqueue__a_key_once(mail_enabled):
    enqueue(key="failed:1")
    with transaction.atomic():
        assert not enqueue_mail(to="ann@example.net", subject="News", text="Again.", key="failed:1")
        assert enqueue_mail(to="ann@example.net", subject="News", text="Other.", key="failed:2")
    assert Mail.objects.count() == len(jobs()) == 2


def test_enqueue__a_key_that_somebody_else_takes_meanwhile(mail_enabled, monkeypatch):
    enqueue(key="failed:1")
    looks = iter([False, True])
    monkeypatch.setattr("django.db.models.QuerySet.exists", lambda self: next(looks))
    assert not enqueue_mail(to="ann@example.net", subject="News", text="Again.", key="failed:1")
    assert Mail.objects.count() == len(jobs()) == 1


@pytest.mark.parametrize(
    "subject", ["Your\r\nBcc: eve@example.net", "Your\nBcc: eve@example.net", "Your\x85Bcc: eve@example.net"]
)
def test_enqueue__subject_is_one_line(mail_enabled, subject):
    assert enqueue(subject=subject).subject == "Your Bcc: eve@example.net"


def test_enqueue__long_subject_and_half_a_character(mail_enabled):
    assert len(enqueue(subject="x" * 1000).subject) == 200
    assert enqueue(subject="half \ud83d of it", key="other").subject


@pytest.mark.parametrize(
    "address",
    ["", "ann", "ann@example.net, eve@example.net", "ann@example.net\nBcc: eve@example.net", "ann@example.net\n"],
)
def test_enqueue__address_of_no_mailbox(mail_enabled, address):
    with pytest.raises(UnusableAddress):
        enqueue_mail(to=address, subject="News", text="Hello.", now=NOW)


def test_enqueue__goes_into_the_queue_that_is_set(settings):
    settings.TASKS = {"default": {**settings.TASKS["default"], "QUEUES": ["default", "network"]}}
    settings.VERNIER_MAIL = {"ENABLED": True, "QUEUE": "network"}
    enqueue()
    assert OxTask.objects.get().queue_name == "network"


def test_enqueue__what_somebody_waits_for_goes_before_images_and_other_mail_after(mail_enabled):
    enqueue()
    enqueue(expires_at=at(minutes=10))
    plain, urgent = OxTask.objects.order_by("enqueued_at").values_list("priority", flat=True)
    assert plain < 0 < urgent
