"""What can go wrong in `vernier.media`: refused uploads, permanent and transient failures of a job."""

from vernier.media.failures import FailureCode

# Attempts in a row that may end so: for a crash or a time limit one more than the first, because another process may
# have been the reason; memory may be short for longer.
CRASH_TRIES_MAX = 2
MEMORY_TRIES_MAX = 3


class MediaError(Exception):
    """The base of every error of this app."""


class UploadRefused(MediaError):  # noqa: N818 - it names what happened to the upload
    """An upload that is not accepted; the message says what was wrong, what was received and what is valid."""


class UploadEmpty(UploadRefused):
    """The file has no bytes."""


class UploadTooLarge(UploadRefused):
    """The file is larger than the ceiling."""


class UploadTypeRefused(UploadRefused):
    """The first bytes are not those of a type on the allowlist."""


class UploadKeyReused(UploadRefused):
    """The Idempotency-Key was used before for other bytes."""


class UploadKeyInvalid(UploadRefused):
    """The Idempotency-Key is not 1 to 255 bytes of printable ASCII."""


class MediaNotFound(MediaError):  # noqa: N818 - it names what the caller is told
    """There is no such Media of this owner, or it was deleted."""


class NoSpace(MediaError):  # noqa: N818 - the field's term
    """The staging store has no room for the upload."""


class ProcessingError(MediaError):
    """A reason why renditions could not be made; `code` is stored, `detail` is for the operator."""

    def __init__(self, code: FailureCode, detail: str = "") -> None:
        super().__init__(f"{code.value}: {detail}" if detail else code.value)
        self.code = code
        self.detail = detail


class PermanentError(ProcessingError):
    """Trying again gives the same result: fail now."""


class TransientError(ProcessingError):
    """Trying again may succeed: back to pending, with backoff.

    `tries_max` bounds how many attempts in a row, without a rendition stored between them, may end in the child
    process of the decoder failing; None leaves the bound to the number of attempts.
    """

    def __init__(self, code: FailureCode, detail: str = "", *, tries_max: int | None = None) -> None:
        super().__init__(code, detail)
        self.tries_max = tries_max


class LeaseLost(MediaError):  # noqa: N818 - the field's term
    """The lease ran out or was taken over: whatever this worker still holds must not be written."""


class HandedBack(MediaError):  # noqa: N818 - the field's term
    """The worker was told to stop and gives its work back."""
