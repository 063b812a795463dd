"""Mail whose job was lost is sent all the same, and an idle outbox costs no write."""

import pytest
from django.core import mail as django_mail
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django_ox.models import OxTask

from tests.mail.factory import NOW, at, enqueue, jobs, send
from vernier.engines.ox import drain
from vernier.mail.models import Mail
from vernier.mail.outbox import enqueue_mail
from vernier.mail.reconcile import BATCH_ROWS, MailReconciled, reconcile_mail

pytestmark = pytest.mark.django_db(transaction=True)

NOTHING = MailReconciled(ended=0, rung=0, forgotten=0)


def test_reconcile__lost_job_is_enqueued_again(mail_enabled):
    mail = enqueue()
    OxTask.objects.all().delete()
    assert reconcile_mail(at(seconds=30)) == NOTHING
    assert reconcile_mail(at(minutes=1)).rung == 1
    assert jobs() == [str(mail.pk)]


def test_reconcile__mail_of_a_killed_worker(mail_enabled):
    mail = enqueue()
    Mail.objects.filter(pk=mail.pk).claim(token=mail.pk, now=NOW)
    assert reconcile_mail(at(minutes=4)).rung == 0
    assert reconcile_mail(at(minutes=5)).rung == 1


def test_reconcile__waiting_jobs_are_not_multiplied(mail_enabled):
    enqueue()
    rung = [reconcile_mail(at(minutes=minute)).rung for minute in range(60)]
    assert sum(rung) <= 6


def test_reconcile__batch_is_bounded_and_nothing_is_forgotten(mail_enabled):
    for _ in range(BATCH_ROWS + 1):
        enqueue()
    assert reconcile_mail(at(minutes=1)).rung == BATCH_ROWS
    assert reconcile_mail(at(minutes=1)).rung == 1


def test_reconcile__silent_while_the_server_is_left_alone(server):
    server.answers["CONNECT"] = "close"
    send(enqueue())
    enqueue()
    assert reconcile_mail(at(minutes=4)).rung == 0
    assert reconcile_mail(at(minutes=5)).rung == 1


def test_reconcile__what_waited_for_the_server_goes_as_soon_as_it_is_back(server):
    enqueue()
    for minute in range(90):
        reconcile_mail(at(minutes=minute))
    send(enqueue(), now=at(minutes=90))
    assert reconcile_mail(at(minutes=91)).rung == 1


def test_reconcile__expired_and_stale_mail_fails(mail_enabled):
    expired = enqueue(expires_at=at(minutes=10), is_secret=True)
    stale = enqueue(now=at(days=-3))
    assert reconcile_mail(at(minutes=10)).ended == 2
    expired.refresh_from_db()
    stale.refresh_from_db()
    assert (expired.failed_at, stale.failed_at) == (at(minutes=10), at(minutes=10))
    assert (expired.text, stale.text) == ("", "Hello.")


def test_reconcile__old_mail_is_deleted_and_keys_are_kept(mail_enabled):
    send(enqueue())
    keyed = send(enqueue(key="failed:1"))
    assert reconcile_mail(at(days=29)) == NOTHING
    assert reconcile_mail(at(days=30)).forgotten == 1
    assert list(Mail.objects.all()) == [keyed]


def test_reconcile__writes_nothing_where_nothing_is_wrong(mail_enabled):
    send(enqueue())
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert reconcile_mail(at(hours=1)) == NOTHING
    assert [query["sql"] for query in queries if not query["sql"].startswith("SELECT")] == []


def test_worker__sends_what_is_enqueued(mail_enabled, settings):
    enqueue_mail(to="ann@example.net", subject="News", text="Hello.")
    drain()
    assert [message.to for message in django_mail.outbox] == [["ann@example.net"]]
