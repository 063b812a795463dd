"""One log line per transition, with the same facts each time."""

import logging
from uuid import UUID

logger = logging.getLogger("vernier.media")


def log_transition(event: str, *, media_id: UUID, version: int, attempt: int, **facts: object) -> None:
    """Write one line that names the event, the Version and the attempt; `facts` go with it."""
    logger.info(
        "%s media=%s version=%d attempt=%d%s",
        event,
        media_id,
        version,
        attempt,
        "".join(f" {name}={value}" for name, value in facts.items()),
        extra={"event": event, "media": str(media_id), "version": version, "attempt": attempt, **facts},
    )
