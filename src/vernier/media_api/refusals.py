"""What an exception of an upload or a deletion is to the client who sent it."""

from __future__ import annotations

import logging

from django.db import OperationalError

from vernier.media.exceptions import (
    MediaNotFound,
    NoSpace,
    UploadEmpty,
    UploadKeyInvalid,
    UploadKeyReused,
    UploadRefused,
    UploadTooLarge,
    UploadTypeRefused,
)
from vernier.media_api.errors import ApiError, not_found

logger = logging.getLogger("vernier.media_api")


class SenderUnknown(UploadRefused):
    """The file came before anything in the request told who sends it."""


_REFUSALS: dict[type[UploadRefused], tuple[int, str]] = {
    SenderUnknown: (400, "invalid_request"),
    UploadEmpty: (400, "invalid_request"),
    UploadKeyInvalid: (400, "invalid_request"),
    UploadTooLarge: (413, "too_large"),
    UploadTypeRefused: (415, "unsupported_type"),
    UploadKeyReused: (422, "key_reused"),
}
# What holds the database is over in seconds (a backup, a burst of writers), a full disk is not.
_BUSY_RETRY_SECONDS = 5
_NO_SPACE_RETRY_SECONDS = 300


def refusal(error: Exception) -> ApiError:
    """Return the answer to a request that ended in `error`; what is nobody's expectation is logged."""
    match error:
        case ApiError():
            return error
        case UploadRefused():
            status, code = _REFUSALS[type(error)]
            return ApiError(status, code, str(error))
        case MediaNotFound():
            return not_found()
        case NoSpace():
            return no_space()
        case OperationalError():
            return _database_refusal(error)
    logger.error("An upload failed unexpectedly.", exc_info=error, extra={"event": "upload_failed"})
    return ApiError(500, "server_error", "The upload failed on the server; the fault is in its log.")


def no_space() -> ApiError:
    headers = {"Retry-After": str(_NO_SPACE_RETRY_SECONDS)}
    return ApiError(507, "no_space", "The server has no space left for uploads.", headers=headers)


def unavailable(description: str) -> ApiError:
    headers = {"Retry-After": str(_BUSY_RETRY_SECONDS)}
    return ApiError(503, "temporarily_unavailable", description, headers=headers)


def _database_refusal(error: OperationalError) -> ApiError:
    """SQLite and PostgreSQL report a full disk, a lock that lasts and a lost connection with this one class."""
    logger.warning("A request met the database: %s", error, extra={"event": "media_api_database"})
    if "full" in str(error) or "No space left" in str(error):
        return no_space()
    return unavailable("The database is busy; please try again.")
