"""The body of an upload on its way into the staging store, once the headers have passed every check."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from vernier.media.accept import Upload, check_upload_key
from vernier.media.conf import media_settings
from vernier.media.exceptions import UploadTooLarge
from vernier.media_api.errors import invalid_request
from vernier.media_api.form import FRAMING_BYTES_MAX, FormReader
from vernier.media_api.head import is_longer
from vernier.media_api.multipart import media_type_of
from vernier.media_api.sender import one_token

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest

    from vernier.authors.models import Author
    from vernier.media.record import Accepted


def open_intake(request: HttpRequest, *, owner: Author, replaces: UUID | None) -> Intake:
    """Return what takes the body; raise ApiError or UploadRefused where the headers tell that it cannot be accepted.

    A new Media arrives in a form. What replaces one arrives in a form too, or is the body itself.
    """
    content_type = request.headers.get("Content-Type", "")
    # Whatever is made of parts: RFC 2046 section 5.1.
    is_form = replaces is None or media_type_of(content_type).startswith(b"multipart/")
    _check_length(request, framing_bytes_max=FRAMING_BYTES_MAX if is_form else 0)
    _check_is_whole(request)
    key = request.headers.get("Idempotency-Key")
    intake = Intake(
        content_type if is_form else None,
        owner=owner,
        authorization=request.headers.get("Authorization"),
        replaces=replaces,
        key=key,
    )
    check_upload_key(key)
    return intake


class Intake:
    """A body on its way into the staging store. Its methods run in threads; whoever comes second waits.

    With `form_type`, the Content-Type of a form, the file is in that. `authorization` is the header that `owner` is
    known by; a token in the form must be the same.
    """

    def __init__(
        self,
        form_type: str | None,
        *,
        owner: Author,
        authorization: str | None,
        replaces: UUID | None,
        key: str | None,
    ) -> None:
        self._upload = Upload()
        self._form = None if form_type is None else FormReader(form_type, on_file=self._upload.write)
        self._owner = owner
        self._authorization = authorization
        self._replaces = replaces
        self._key = key
        self._lock = Lock()
        self.is_closed = False

    def write(self, chunk: bytes) -> None:
        with self._lock:
            if self._form is None:
                self._upload.write(chunk)
            else:
                self._form.write(chunk)

    def accept(self) -> Accepted:
        with self._lock:
            if self._form is not None:
                self._form.finish()
                one_token(self._authorization, self._form.tokens)
            accepted = self._upload.accept(owner=self._owner, replaces=self._replaces, idempotency_key=self._key)
            self._close()
            return accepted

    def close(self) -> None:
        """Remove what no row names."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        self._upload.__exit__(None, None, None)
        self.is_closed = True


def _check_length(request: HttpRequest, *, framing_bytes_max: int) -> None:
    """Raise ApiError unless the body says its length, UploadTooLarge unless the file in it can be accepted."""
    ceiling = media_settings().upload_max_bytes
    if is_longer(request, ceiling + framing_bytes_max):
        length = request.headers["Content-Length"]
        raise UploadTooLarge(f"The body has {length} bytes; a file may have at most {ceiling}.")


def _check_is_whole(request: HttpRequest) -> None:
    """Raise ApiError for a part of a file: taken for the whole it would destroy the rest (RFC 9110 section 14.5)."""
    if "Content-Range" in request.headers:
        raise invalid_request("The request has a Content-Range; valid is a whole file.")
