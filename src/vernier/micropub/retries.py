"""What makes a second sending of a post known, so that a client's retry makes no second post."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from typing import TYPE_CHECKING

from vernier.media.accept import check_upload_key
from vernier.media_api.received import ReceivedFile
from vernier.posts.write import Retry

if TYPE_CHECKING:
    from vernier.authors.models import AccessToken
    from vernier.micropub.commands import Create

# Gateways and clients give up after 30 to 60 seconds, and try a few times; nobody posts the same again so soon.
GUESSED_FOR = timedelta(minutes=5)


def retry_of(token: AccessToken, command: Create, key: str | None) -> Retry:
    """Return by what the post is known: the client's Idempotency-Key, else its token and all that it says.

    Of a file that is its SHA-256: the body of a form is another each time. Raises UploadKeyInvalid.
    """
    content = json.dumps(command.properties, default=_file_sha256)
    check_upload_key(key)
    if key is not None:
        return Retry(key=f"micropub:{key}", sha256=_sha256(content))
    guess = _sha256(f"{token.pk} {content}")
    return Retry(key=f"auto:{guess}", sha256=guess, kept=GUESSED_FOR, is_guess=True)


def upload_key(retry: Retry, number: int) -> str:
    """Return the key of the post's file with that number."""
    return f"micropub:{_sha256(retry.key)}/{number}"


def _file_sha256(value: object) -> dict[str, str]:
    assert isinstance(value, ReceivedFile)
    return {"sha256": value.sha256}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
