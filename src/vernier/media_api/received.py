"""A form as a view gets it: text and files in the order of the body, the files staged and not yet accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vernier.media_api.errors import ApiError, invalid_request

if TYPE_CHECKING:
    from uuid import UUID

    from django.contrib.auth.models import AbstractBaseUser
    from django.http import HttpRequest

    from vernier.media.exceptions import UploadRefused
    from vernier.media.record import Accepted
    from vernier.media_api.staged_file import StagedFile

# Where in the ASGI scope the form is handed on.
SCOPE_KEY = "vernier.form"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedFile:
    """A file of a form, which is there until the request has been answered.

    `filename` is what the client calls it: to be shown, never to be used as a path. Of a file with a `refusal`
    nothing is kept; then `sha256` is empty, and `byte_size` says what was sent.
    """

    field: str
    filename: str
    byte_size: int
    sha256: str
    refusal: UploadRefused | None = None
    staged: StagedFile | None = None

    def accept(
        self, *, owner: AbstractBaseUser, replaces: UUID | None = None, idempotency_key: str | None = None
    ) -> Accepted:
        """Make a Media of it; raises as `vernier.media.accept.accept_upload`, and the `refusal` where there is one.

        To be called once, not within a transaction, and before the request is answered.
        """
        if self.refusal is not None:
            raise self.refusal
        if self.staged is None:
            raise ValueError("This file was not received from a client.")
        return self.staged.accept(owner=owner, replaces=replaces, idempotency_key=idempotency_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedForm:
    """The fields of a form by their names, text and files mixed, in the order of the body."""

    fields: tuple[tuple[str, str | ReceivedFile], ...]

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, value) for name, value in self.fields if isinstance(value, str))

    @property
    def files(self) -> tuple[ReceivedFile, ...]:
        return tuple(value for _, value in self.fields if isinstance(value, ReceivedFile))


def received_form(request: HttpRequest) -> ReceivedForm:
    """Return the form that `FormHandler` has received, else the one in `request.POST`, which has no files.

    The latter keeps the order of the values of each name only. Raises ApiError for text with a NUL in it.
    """
    form = getattr(request, "scope", {}).get(SCOPE_KEY)
    if isinstance(form, ReceivedForm):
        return form
    if request.FILES:
        raise ApiError(501, "not_implemented", "FormHandler is not in front of this Django application.")
    texts = tuple((name, str(value)) for name, values in request.POST.lists() for value in values)
    if any("\0" in text for pair in texts for text in pair):
        raise invalid_request("A field has a NUL in it, which is no text.")
    return ReceivedForm(fields=texts)
