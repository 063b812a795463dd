"""`/healthz`: whether this site can do its work, for whoever watches it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from vernier.engines.heartbeat import youngest_heartbeat_seconds
from vernier.site.data_directory import RUN

if TYPE_CHECKING:
    from django.http import HttpRequest

logger = logging.getLogger("vernier.site")

OK = "ok"
# A worker beats at each look for a job; one that is silent for this long does not come back by itself.
WORKER_SILENT_SECONDS = 60


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:  # noqa: ARG001 - Django's signature
    """Answer 200 if the database answers and a worker lives, else 503; each part is named."""
    parts = {"database": _database(), "worker": _worker()}
    healthy = set(parts.values()) == {OK}
    return JsonResponse({"status": OK if healthy else "failing", **parts}, status=200 if healthy else 503)


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            # A read of the file: a constant would not touch it.
            cursor.execute("SELECT 1 FROM django_migrations LIMIT 1")
            cursor.fetchone()
    except DatabaseError as error:
        logger.warning("The database does not answer: %s", error, extra={"event": "database_failing"})
        return "failing"
    return OK


def _worker() -> str:
    age = youngest_heartbeat_seconds(settings.DATA_DIR / RUN)
    return OK if age is not None and age < WORKER_SILENT_SECONDS else "silent"
