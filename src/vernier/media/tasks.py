"""The jobs: doorbells that name a row. Whatever a job is told, the row decides what is done."""

from uuid import UUID

from django.tasks import task

from vernier.media import clean_up
from vernier.media.process import process


@task
def process_version(media_id: str, number: int) -> None:
    process(UUID(media_id), number)


@task
def clean_up_version(media_id: str, number: int) -> None:
    clean_up.clean_up_version(UUID(media_id), number)


@task
def clean_up_media(media_id: str) -> None:
    clean_up.clean_up_media(UUID(media_id))
