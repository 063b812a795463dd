"""From the outbox to a mail server, whatever that answers."""

from datetime import timedelta

import pytest
from django.core import mail as django_mail

from tests.mail.factory import NOW, at, enqueue, jobs, send
from vernier.mail.models import Mail
from vernier.mail.send import backoff, is_paused, send_mail

pytestmark = pytest.mark.django_db(transaction=True)


def test_send__arrives_as_it_was_written(server):
    sent = send(enqueue(subject="Grüße", text="Ein Brief.\n.\nMit Punkt.\n"))
    assert sent.sent_at == NOW
    (arrived,) = server.mails
    assert (arrived["To"], arrived["Subject"]) == ("ann@example.net", "Grüße")
    assert arrived.get_content().splitlines() == ["Ein Brief.", ".", "Mit Punkt."]
    assert arrived["Message-ID"] == f"<{sent.pk}@example.org>"


def test_send__once(server):
    mail = enqueue()
    send(mail)
    assert send(mail, now=at(hours=1)).attempts == 1
    assert len(server.mails) == 1


def test_send__not_while_another_worker_sends_it(mail_enabled):
    mail = enqueue()
    assert Mail.objects.filter(pk=mail.pk).claim(token=mail.pk, now=NOW)
    assert send(mail, now=at(minutes=4)).sent_at is None
    assert send(mail, now=at(minutes=5)).sent_at == at(minutes=5)
    assert len(django_mail.outbox) == 1


def test_send__late_worker_does_not_undo_what_another_has_done(mail_enabled):
    mail = enqueue()
    Mail.objects.filter(pk=mail.pk).claim(token=mail.pk, now=NOW)
    late = Mail.objects.filter(pk=mail.pk).held(token=mail.pk)
    sent = send(mail, now=at(minutes=6))
    assert not late.fail(now=at(minutes=7), detail="late")
    assert sent.sent_at == at(minutes=6)


def test_send__second_delivery_is_recognisable(server):
    server.answers["CONTENT"] = "close"
    mail = send(enqueue())
    del server.answers["CONTENT"]
    send(mail, now=at(minutes=6))
    assert server.mails[0]["Message-ID"] == f"<{mail.pk}@example.org>"


@pytest.mark.parametrize(("verb", "answer"), [("RCPT", "550 no such user"), ("CONTENT", "554 no spam here")])
def test_send__refused_for_good(server, verb, answer):
    server.answers[verb] = answer
    mail = send(enqueue())
    assert mail.failed_at == NOW
    assert answer.split(maxsplit=1)[1] in mail.failure_detail
    assert not is_paused(NOW)


@pytest.mark.parametrize(("verb", "answer"), [("RCPT", "450 greylisted"), ("CONTENT", "452 full")])
def test_send__deferred_mail_is_tried_again_and_holds_no_other_up(server, verb, answer):
    server.answers[verb] = answer
    mail = send(enqueue())
    assert at(seconds=30) <= mail.next_attempt_at <= at(minutes=1)
    assert len(jobs()) == 2
    del server.answers[verb]
    assert send(enqueue(to="bob@example.net")).sent_at
    assert send(mail, now=at(minutes=1)).sent_at == at(minutes=1)


@pytest.mark.parametrize(
    ("verb", "answer"),
    [
        ("CONNECT", "hang"),
        ("CONNECT", "close"),
        ("CONNECT", "554 go away"),
        ("MAIL", "530 who are you"),
        ("DATA", "hang"),
        ("CONTENT", "close"),
    ],
)
def test_send__server_that_takes_no_mail_is_left_alone_for_a_while(server, verb, answer):
    server.answers[verb] = answer
    first, others = send(enqueue()), [enqueue() for _ in range(3)]
    for other in others:
        assert send(other, now=at(minutes=4)).attempts == 0
    assert server.connections == 1
    assert (first.sent_at, first.failed_at) == (None, None)
    server.answers.clear()
    assert send(others[0], now=at(minutes=5)).sent_at
    assert send(first, now=first.next_attempt_at).sent_at


def test_send__server_that_is_not_there(server):
    server.shutdown()
    server.server_close()
    mail = send(enqueue())
    assert "refused" in mail.failure_detail
    assert mail.next_attempt_at == at(minutes=5)


def test_send__server_whose_name_no_host_can_have(server, settings):
    settings.MAILERS = {"default": {**server.mailers["default"], "OPTIONS": {"host": "a..b", "port": 25}}}
    assert "Unicode" in send(enqueue()).failure_detail
    assert is_paused(NOW)


def test_send__goodbye_that_goes_wrong_changes_nothing(server):
    server.answers["QUIT"] = "close"
    assert send(enqueue()).sent_at == NOW
    assert len(server.mails) == 1


def test_send__paused_job_writes_nothing(server, django_assert_num_queries):
    server.answers["CONNECT"] = "close"
    send(enqueue())
    other = enqueue()
    with django_assert_num_queries(2):
        send(other)


def test_send__given_up_after_three_days(server):
    server.answers["CONNECT"] = "close"
    mail, now = enqueue(), NOW
    while send(mail, now=now).failed_at is None:
        assert now < mail.next_attempt_at <= now + timedelta(hours=6)
        now = mail.next_attempt_at
    assert at(days=2, hours=18) <= mail.failed_at < at(days=3)
    assert server.connections == mail.attempts < 40


def test_send__expired_mail_is_not_sent(mail_enabled):
    mail = send(enqueue(expires_at=at(minutes=10)), now=at(minutes=10))
    assert mail.failed_at
    assert django_mail.outbox == []


def test_send__mail_that_would_come_too_late_fails_at_once(server):
    server.answers["CONNECT"] = "close"
    assert send(enqueue(expires_at=at(minutes=4))).failed_at == NOW


def test_send__secret_text_is_gone_when_it_has_ended(server):
    assert send(enqueue(is_secret=True)).text == ""
    server.answers["RCPT"] = "550 no such user"
    assert send(enqueue(is_secret=True)).text == ""
    assert send(enqueue()).text == "Hello."


def test_send__nothing_is_said_to_be_sent_without_a_mail_server(mail_enabled, settings):
    mail = enqueue()
    settings.VERNIER_MAIL = {"ENABLED": False}
    assert send(mail).attempts == 0


def test_send__mail_that_does_not_exist(mail_enabled):
    mail = enqueue()
    Mail.objects.all().delete()
    send_mail(mail.pk)
    assert django_mail.outbox == []


def test_send__clock_that_went_back(mail_enabled):
    mail = enqueue(now=at(days=30))
    assert send(mail).sent_at == NOW


def test_backoff__grows_to_six_hours():
    assert timedelta(seconds=30) <= backoff(1) <= timedelta(minutes=1)
    assert timedelta(hours=3) <= backoff(100) <= timedelta(hours=6)
