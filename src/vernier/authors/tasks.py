"""The jobs: doorbells that name a row. Whatever a job is told, the row decides what is done."""

from django.tasks import task

from vernier.authors import sign_in_code


@task
def mail_code(code_id: int) -> None:
    sign_in_code.mail_code(code_id)
