"""The body of an upload on its way into the staging store, once the headers have passed every check."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from vernier.media.accept import Upload, check_upload_key
from vernier.media.conf import media_settings
from vernier.media.exceptions import UploadTooLarge
from vernier.media_api.errors import ApiError, invalid_request
from vernier.media_api.form import FRAMING_BYTES_MAX, FormReader, boundary_of, is_multipart

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest

    from vernier.authors.models import Author
    from vernier.media.accept import Accepted


def open_intake(request: HttpRequest, *, owner: Author, replaces: UUID | None) -> Intake:
    """Return what takes the body; raise ApiError or UploadRefused where the headers tell that it cannot be accepted.

    A new Media arrives in a form. What replaces one arrives in a form too, or is the body itself.
    """
    content_type = request.headers.get("Content-Type", "")
    is_form = replaces is None or is_multipart(content_type)
    _check_length(request, framing_bytes_max=FRAMING_BYTES_MAX if is_form else 0)
    _check_is_whole(request)
    boundary = boundary_of(content_type) if is_form else None
    key = request.headers.get("Idempotency-Key")
    check_upload_key(key)
    return Intake(boundary, owner=owner, replaces=replaces, key=key)


class Intake:
    """A body on its way into the staging store. Its methods run in threads; whoever comes second waits."""

    def __init__(self, boundary: bytes | None, *, owner: Author, replaces: UUID | None, key: str | None) -> None:
        self._upload = Upload()
        self._form = None if boundary is None else FormReader(boundary, on_file=self._upload.write)
        self._owner = owner
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
    """Raise ApiError unless the body says its length (RFC 9110 section 8.6), and the file in it can be accepted."""
    length = request.headers.get("Content-Length", "")
    if not length:
        how = "chunked" if "Transfer-Encoding" in request.headers else "without a Content-Length"
        raise ApiError(411, "length_required", f"The body is sent {how}; valid is a Content-Length, not chunked.")
    if not (length.isascii() and length.isdigit()):
        raise invalid_request("The Content-Length is not a number.")
    ceiling = media_settings().upload_max_bytes
    longest = ceiling + framing_bytes_max
    # Compared by its digits first: a number of any length can be sent.
    if len(length.lstrip("0")) > len(str(longest)) or int(length) > longest:
        raise UploadTooLarge(f"The body has {length} bytes; a file may have at most {ceiling}.")


def _check_is_whole(request: HttpRequest) -> None:
    """Raise ApiError for a part of a file: taken for the whole it would destroy the rest (RFC 9110 section 14.5)."""
    if "Content-Range" in request.headers:
        raise invalid_request("The request has a Content-Range; valid is a whole file.")
