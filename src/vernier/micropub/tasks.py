"""The jobs: doorbells that name a row. Whatever a job is told, the row decides what is done."""

from uuid import UUID

from django.tasks import task

from vernier.micropub import copies


@task
def copy_photos(post_id: str, attempt: int) -> None:
    copies.copy_photos(UUID(post_id), attempt=attempt)
