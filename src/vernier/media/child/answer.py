"""Answer what a worker asks about one original, within a child process that has limited itself first."""

import json
import socket
from typing import Any

from vernier.media.child import limits
from vernier.media.child.protocol import DETAIL_CHARACTERS_MAX, LENGTHS, Job, pack, size_to_json
from vernier.media.exceptions import (
    CRASH_TRIES_MAX,
    MEMORY_TRIES_MAX,
    PermanentError,
    ProcessingError,
    TransientError,
)
from vernier.media.failures import FailureCode
from vernier.media.images import Picture, verify
from vernier.media.variants import Variant

Message = tuple[dict[str, Any], bytes]


def answer_all(channel: socket.socket) -> None:
    """Read the job, then answer one question after another until the worker closes its end."""
    stream = channel.makefile("rb")
    start = _receive(stream)
    if start is None:
        return
    job = Job.from_json(start[0])
    limits.confine(memory_bytes=job.memory_bytes, cpu_seconds=job.cpu_seconds)
    original = _Original(job)
    while question := _receive(stream):
        channel.sendall(pack(*_answer(original, *question)))


class _Original:
    """The original of a job, decoded when it is first needed: verifying needs none."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._picture: Picture | None = None

    def picture(self) -> Picture:
        job = self._job
        if self._picture is None:
            self._picture = Picture.open(
                job.path, image_type=job.image_type, variants=job.variants, pixels_max=job.pixels_max
            )
        return self._picture


def _receive(stream: Any) -> Message | None:  # noqa: ANN401 - a buffered reader of a socket
    lengths = stream.read(LENGTHS.size)
    if len(lengths) < LENGTHS.size:
        return None
    header_bytes, data_bytes = LENGTHS.unpack(lengths)
    return json.loads(stream.read(header_bytes)), stream.read(data_bytes)


def _answer(original: _Original, question: dict[str, Any], data: bytes) -> Message:
    try:
        return _ask(original, question, data)
    except ProcessingError as error:
        return _failure(error), b""
    except MemoryError:
        return _failure(TransientError(FailureCode.OUT_OF_MEMORY, tries_max=MEMORY_TRIES_MAX)), b""
    except Exception as error:  # noqa: BLE001 - the worker records it as the reason
        detail = f"{type(error).__name__}: {error}"
        return _failure(TransientError(FailureCode.DECODER_CRASHED, detail, tries_max=CRASH_TRIES_MAX)), b""


def _ask(original: _Original, question: dict[str, Any], data: bytes) -> Message:
    match question:
        case {"ask": "measure"}:
            picture = original.picture()
            measured = {
                "size": size_to_json(picture.size),
                "has_alpha": picture.has_alpha,
                "placeholder": picture.average_colour(),
            }
            return measured, b""
        case {"ask": "render", "variant": stored}:
            rendered = original.picture().render(Variant.from_json(stored))
            return {"size": size_to_json(rendered.size), "format": rendered.format}, rendered.data
        case {"ask": "verify"}:
            verified = verify(data)
            return {"size": size_to_json(verified.size), "format": verified.format}, b""
    raise ValueError(f"The question is {question!r}; valid are measure, render and verify.")


def _failure(error: ProcessingError) -> dict[str, Any]:
    return {
        "failed": "permanent" if isinstance(error, PermanentError) else "transient",
        "code": error.code.value,
        "detail": error.detail[:DETAIL_CHARACTERS_MAX],
        "tries_max": getattr(error, "tries_max", None),
    }
