"""A form with files on its way in: its text into memory, its files into the staging store."""

from __future__ import annotations

from contextlib import ExitStack
from threading import Lock
from typing import TYPE_CHECKING

from vernier.media.conf import media_settings
from vernier.media.exceptions import UploadTooLarge
from vernier.media_api.errors import ApiError, invalid_request
from vernier.media_api.head import is_longer
from vernier.media_api.multipart import MultipartReader, boundary_of, shown
from vernier.media_api.received import ReceivedForm
from vernier.media_api.refusals import SenderUnknown
from vernier.media_api.staged_file import StagedFile

if TYPE_CHECKING:
    from django.http import HttpRequest

    from vernier.media_api.form_handler import FormEndpoint
    from vernier.media_api.multipart import PartHead
    from vernier.media_api.received import ReceivedFile

# A post may have a thousand properties; then there are the token and whatever else a client adds.
PARTS_MAX = 1100
# The text of all fields with their names. Nobody writes more, and it is what other forms may have.
TEXT_BYTES_MAX = 1024 * 1024
# How much longer than files and text a body may be: for so many parts a boundary and one or two short header lines,
# 300 bytes, and some long names of files.
FRAMING_BYTES_MAX = 512 * 1024
# QueryDict reads UTF-8 as it is: with every byte of it escaped, a text that is not in Latin letters would be three
# times as long.
_ESCAPES = str.maketrans({"%": "%25", "&": "%26", "+": "%2B", "=": "%3D", " ": "+"})


def open_form(request: HttpRequest, endpoint: FormEndpoint) -> FormIntake:
    """Return what takes the body; raise ApiError or UploadRefused where the headers tell that it is not accepted."""
    knows_sender = endpoint.authorise(request, ())
    _check_length(request, endpoint.files_max)
    return FormIntake(request, endpoint, knows_sender=knows_sender)


class FormIntake:
    """A form on its way in. Its methods run in threads; whoever comes second waits.

    Each of them raises ApiError for a form that is not accepted at all, and NoSpace.
    """

    def __init__(self, request: HttpRequest, endpoint: FormEndpoint, *, knows_sender: bool) -> None:
        self._request = request
        self._endpoint = endpoint
        self._knows_sender = knows_sender
        self._reader = MultipartReader(
            boundary_of(request.headers["Content-Type"]),
            parts_max=PARTS_MAX,
            on_part=self._begin_part,
            on_data=self._take_data,
            on_part_end=self._end_part,
        )
        self._lock = Lock()
        self._staged = ExitStack()
        self._files = 0
        self._text_bytes = 0
        self._fields: list[tuple[str, str | ReceivedFile]] = []
        self._name = ""
        # What the current part is: text, or a file, which is begun when there is anything in it.
        self._text: bytearray | None = None
        self._filename = b""
        self._file: StagedFile | None = None

    def write(self, chunk: bytes) -> None:
        with self._lock:
            self._reader.write(chunk)

    def finish(self) -> tuple[ReceivedForm, bytes]:
        """Return the form, and its text as a URL-encoded body for Django."""
        with self._lock:
            self._reader.finish()
            form = ReceivedForm(fields=tuple(self._fields))
            content = encode(form)
            if len(content) > TEXT_BYTES_MAX:
                raise _too_much_text()
            return form, content

    def close(self) -> None:
        """Remove every file that no row names."""
        with self._lock:
            self._staged.close()

    def _begin_part(self, head: PartHead) -> None:
        self._count_text(len(head.name))
        self._name = _decode(head.name, head.name)
        if not self._name:
            raise invalid_request("A part has no name; valid is “Content-Disposition: form-data; name=…”.")
        # Some programs send a photo without a name of its file; an address is sent as text, or without a type.
        is_text = not head.media_type or head.media_type.startswith(b"text/")
        is_file = head.filename is not None or (self._may_be_file() and not is_text)
        self._text = None if is_file else bytearray()
        self._filename = head.filename or b""
        # An input in which no file was chosen is sent as a file without name and content: HTML, section 4.10.21.4.
        self._file = self._begin_file() if self._filename else None

    def _take_data(self, data: bytes) -> None:
        if self._text is not None:
            self._count_text(len(data))
            self._text += data
            return
        if self._file is None:
            self._file = self._begin_file()
        self._file.write(data)

    def _end_part(self) -> None:
        if self._text is not None:
            self._fields.append((self._name, _decode(bytes(self._text), self._name.encode())))
        elif self._file is not None:
            self._fields.append((self._name, self._file.end()))
        elif self._may_be_file():
            # No file was chosen; its place counts, for other fields may say something of each photo in their order.
            self._fields.append((self._name, ""))

    def _begin_file(self) -> StagedFile:
        if not self._may_be_file():
            valid = ", ".join(f"“{name}”" for name in sorted(self._endpoint.file_fields))
            raise invalid_request(f"A file is in a part named “{shown(self._name.encode())}”; valid are {valid}.")
        self._files += 1
        if self._files > self._endpoint.files_max:
            raise invalid_request(f"The form has more than {self._endpoint.files_max} files, the most it may have.")
        file = StagedFile(field=self._name, filename=self._filename, lock=self._lock, refusal=self._refuse_unknown())
        self._staged.callback(file.close)
        return file

    def _may_be_file(self) -> bool:
        return self._name in self._endpoint.file_fields

    def _refuse_unknown(self) -> SenderUnknown | None:
        """Ask once more who sends this before the first file; what comes later is too late for every file."""
        if self._files == 1 and not self._knows_sender:
            texts = [(name, value) for name, value in self._fields if isinstance(value, str)]
            self._knows_sender = self._endpoint.authorise(self._request, texts)
        if self._knows_sender:
            return None
        return SenderUnknown(
            "The file came before anything told who sends it; send an access token in the header Authorization,"
            " or in a field before the files."
        )

    def _count_text(self, byte_size: int) -> None:
        self._text_bytes += byte_size
        if self._text_bytes > TEXT_BYTES_MAX:
            raise _too_much_text()


def encode(form: ReceivedForm) -> bytes:
    """Return the text of the form as application/x-www-form-urlencoded, which is always in UTF-8."""
    return "&".join(f"{name.translate(_ESCAPES)}={value.translate(_ESCAPES)}" for name, value in form.texts).encode()


def _check_length(request: HttpRequest, files_max: int) -> None:
    ceiling = media_settings().upload_max_bytes
    if is_longer(request, files_max * ceiling + TEXT_BYTES_MAX + FRAMING_BYTES_MAX):
        raise UploadTooLarge(
            f"The body has {request.headers['Content-Length']} bytes; valid are up to {files_max} files of at most"
            f" {ceiling} bytes and {TEXT_BYTES_MAX} bytes of text."
        )


def _decode(text: bytes, name: bytes) -> str:
    """Return the text of the part with that name; raise ApiError where it is none."""
    if b"\0" in text:
        raise invalid_request(f"The part “{shown(name)}” has a NUL in it, which is no text.")
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise invalid_request(f"The part “{shown(name)}” is not in UTF-8.") from error


def _too_much_text() -> ApiError:
    return ApiError(413, "too_large", f"The fields beside the files have more than {TEXT_BYTES_MAX} bytes.")
