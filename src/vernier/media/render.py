"""Render in a child process with limits: whatever a hostile image does to its decoder, the worker lives on."""

import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, cast

from vernier.media.child.client import start_child
from vernier.media.child.protocol import (
    DETAIL_CHARACTERS_MAX,
    EXIT_CODE,
    FORK_REFUSED,
    HEADER_BYTES_MAX,
    LENGTHS,
    Job,
    Measured,
    Rendered,
    Verified,
    colour_from_json,
    pack,
    size_from_json,
)
from vernier.media.conf import MediaSettings
from vernier.media.exceptions import (
    CRASH_TRIES_MAX,
    MEMORY_TRIES_MAX,
    PermanentError,
    ProcessingError,
    TransientError,
)
from vernier.media.failures import FailureCode
from vernier.media.variants import EXTENSIONS, Format, Variant

__all__ = ["Measured", "Rendered", "Renderer", "Verified", "open_renderer"]

# How often the worker looks after its lease while the child works.
TICK_SECONDS = 0.25
# A killed child ends at once, except while the kernel waits for a disk; its memory is the kernel's matter then.
_REAP_SECONDS = 10
# No encoder makes more of a picture than its raw pixels and some headers; a child that sends more is not believed.
_PIXEL_BYTES_MAX = 4
_OVERHEAD_BYTES_MAX = 1024 * 1024
# How much is moved between two looks at the clock.
_CHUNK_BYTES = 1024 * 1024


class Renderer(Protocol):
    """What can be asked about one original; each answer may be a PermanentError or a TransientError."""

    def measure(self) -> Measured: ...

    def render(self, variant: Variant) -> Rendered: ...

    def verify(self, data: bytes) -> Verified: ...


@contextmanager
def open_renderer(
    path: str,
    *,
    image_type: str,
    variants: tuple[Variant, ...],
    settings: MediaSettings,
    on_tick: Callable[[], None],
) -> Iterator[Renderer]:
    """Start a child for one job; when the context is left, the child is gone, whatever happened.

    Pass all variants of the Version, also those that exist already: the bytes of each depend on the set. `on_tick`
    is called at least every TICK_SECONDS while the child works; what it raises ends the wait at once.
    """
    job = Job(
        path=os.path.abspath(path),  # noqa: PTH100 - the child need not have the same working directory
        image_type=image_type,
        variants=variants,
        pixels_max=settings.pixels_max,
        memory_bytes=settings.render_memory_bytes,
        cpu_seconds=settings.render_cpu_seconds,
    )
    channel, link = start_child()
    with channel, link:
        try:
            yield _ChildRenderer(channel, link, job=job, wall_seconds=settings.render_wall_seconds, on_tick=on_tick)
        finally:
            _end(link)


class _ChildRenderer:
    """Asks the child, and believes none of its answers before it has looked at them."""

    def __init__(
        self,
        channel: socket.socket,
        link: socket.socket,
        *,
        job: Job,
        wall_seconds: float,
        on_tick: Callable[[], None],
    ) -> None:
        channel.setblocking(False)
        self._channel = channel
        self._link = link
        self._wall_seconds = wall_seconds
        self._on_tick = on_tick
        self._unsent = pack(job.to_json())
        self._tick_at = self._deadline = 0.0

    def measure(self) -> Measured:
        header, _ = self._ask({"ask": "measure"})
        with _malformed_is_a_crash():
            return Measured(
                size=size_from_json(header["size"]),
                has_alpha=header["has_alpha"] is True,
                placeholder=colour_from_json(header["placeholder"]),
            )

    def render(self, variant: Variant) -> Rendered:
        raw_bytes_max = variant.width_max * variant.height_max * _PIXEL_BYTES_MAX
        question = {"ask": "render", "variant": variant.to_json()}
        header, data = self._ask(question, answer_bytes_max=raw_bytes_max + _OVERHEAD_BYTES_MAX)
        with _malformed_is_a_crash():
            return Rendered(data=data, format=_format(header), size=size_from_json(header["size"]))

    def verify(self, data: bytes) -> Verified:
        header, _ = self._ask({"ask": "verify"}, data)
        with _malformed_is_a_crash():
            return Verified(format=_format(header), size=size_from_json(header["size"]))

    def _ask(
        self, question: dict[str, Any], data: bytes = b"", *, answer_bytes_max: int = 0
    ) -> tuple[dict[str, Any], bytes]:
        self._deadline = time.monotonic() + self._wall_seconds
        self._send(self._unsent + pack(question, data))
        self._unsent = b""
        header, answer = self._receive_message(answer_bytes_max)
        if "failed" in header:
            with _malformed_is_a_crash():
                failure = _failure(header)
            raise failure
        return header, answer

    def _send(self, message: bytes) -> None:
        rest = memoryview(message)
        while rest:
            self._wait_until(select.POLLOUT)
            try:
                rest = rest[self._channel.send(rest[:_CHUNK_BYTES]) :]
            except (BrokenPipeError, ConnectionResetError):
                raise self._ended() from None

    def _receive_message(self, data_bytes_max: int) -> tuple[dict[str, Any], bytes]:
        header_bytes, data_bytes = LENGTHS.unpack(self._receive(LENGTHS.size))
        with _malformed_is_a_crash():
            if header_bytes > HEADER_BYTES_MAX or data_bytes > data_bytes_max:
                raise ValueError(f"lengths are {header_bytes} and {data_bytes} bytes")
        header = self._receive(header_bytes)
        data = self._receive(data_bytes)
        with _malformed_is_a_crash():
            return dict(json.loads(header)), data

    def _receive(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            self._wait_until(select.POLLIN)
            try:
                chunk = self._channel.recv(min(_CHUNK_BYTES, size - len(received)))
            except ConnectionResetError:
                chunk = b""
            if not chunk:
                raise self._ended()
            received += chunk
        return bytes(received)

    def _wait_until(self, event: int) -> None:
        """Return once the child can take or give something; raise what `on_tick` raises, or why there is no more."""
        ready = select.poll()
        ready.register(self._channel, event)
        ready.register(self._link, select.POLLIN)
        while True:
            self._tick()
            fds = {fd for fd, _ in ready.poll(TICK_SECONDS * 1000)}
            if self._channel.fileno() in fds:
                return
            if fds:
                raise self._ended()

    def _tick(self) -> None:
        now = time.monotonic()
        if now >= self._tick_at:
            self._on_tick()
            self._tick_at = now + TICK_SECONDS
        if now >= self._deadline:
            raise TransientError(
                FailureCode.TIME_LIMIT, f"no answer within {self._wall_seconds} s", tries_max=CRASH_TRIES_MAX
            )

    def _ended(self) -> ProcessingError:
        """Return why the child is gone, unless the worker is to stop anyway: then it hands its work back."""
        self._on_tick()
        return _reason(_exit_code(self._link))


@contextmanager
def _malformed_is_a_crash() -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        detail = f"malformed answer: {type(error).__name__}: {error}"[:DETAIL_CHARACTERS_MAX]
        raise TransientError(FailureCode.DECODER_CRASHED, detail, tries_max=CRASH_TRIES_MAX) from error


def _format(header: dict[str, Any]) -> Format:
    if header["format"] not in EXTENSIONS:
        raise ValueError(f"format is {header['format']!r}")
    return cast("Format", header["format"])


def _failure(header: dict[str, Any]) -> ProcessingError:
    code, detail = FailureCode(header["code"]), str(header["detail"])[:DETAIL_CHARACTERS_MAX]
    match header:
        case {"failed": "permanent"}:
            return PermanentError(code, detail)
        case {"failed": "transient", "tries_max": None | int() as tries_max}:
            return TransientError(code, detail, tries_max=tries_max)
    raise ValueError(f"failed is {header['failed']!r}")


def _reason(exit_code: int | None) -> TransientError:
    """Tell from its exit code (negative: a signal; None: not known) why a child ended that should not have."""
    if exit_code is None or exit_code == FORK_REFUSED:
        return TransientError(FailureCode.OUT_OF_MEMORY, "the child could not be started or kept")
    if exit_code == -signal.SIGXCPU:
        return TransientError(FailureCode.TIME_LIMIT, "CPU time spent", tries_max=CRASH_TRIES_MAX)
    if exit_code == -signal.SIGKILL:
        return TransientError(FailureCode.OUT_OF_MEMORY, "the child was killed", tries_max=MEMORY_TRIES_MAX)
    return TransientError(
        FailureCode.DECODER_CRASHED, f"the child ended with exit code {exit_code}", tries_max=CRASH_TRIES_MAX
    )


def _exit_code(link: socket.socket) -> int | None:
    """Wait for the child's end and return its exit code, or None where the fork server cannot tell it any more."""
    link.settimeout(_REAP_SECONDS)
    try:
        told = link.recv(EXIT_CODE.size)
    except OSError:
        return None
    return int(EXIT_CODE.unpack(told)[0]) if len(told) == EXIT_CODE.size else None


def _end(link: socket.socket) -> None:
    """Have the child killed and wait until it is gone."""
    try:
        link.shutdown(socket.SHUT_WR)
    except OSError:
        # The fork server has closed its end: the child is gone already.
        return
    _exit_code(link)
