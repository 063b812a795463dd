"""The jobs: doorbells that name a row. Whatever a job is told, the row decides what is done."""

from uuid import UUID

from django.tasks import task

from vernier.mail.send import send_mail


@task
def send(mail_id: str) -> None:
    send_mail(UUID(mail_id))
