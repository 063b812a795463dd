"""Process: from a Version that is due to its renditions, and to Ready when the last of them is verified.

A job may run at any time, any number of times, beside others for the same Version: the lease decides who works, the
rows say what is missing, and files are only ever created.
"""

from __future__ import annotations

import hashlib
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from django.core.files.base import ContentFile
from django.db import OperationalError, transaction
from django.utils import timezone

from vernier.media.conf import MediaSettings, media_settings
from vernier.media.exceptions import HandedBack, LeaseLost, PermanentError, TransientError
from vernier.media.failures import FailureCode
from vernier.media.finish import fail, finish, hand_back, requeue, retry
from vernier.media.lease import Lease, claim, request_stop, require
from vernier.media.models import Rendition, Version
from vernier.media.render import Rendered, Renderer, open_renderer
from vernier.media.storages import local_path, read, renditions_storage, sha256_of, staging_storage
from vernier.media.transitions import Failure
from vernier.media.variants import EXTENSIONS, Variant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from uuid import UUID

__all__ = ["process", "request_stop"]


class OpenRenderer(Protocol):
    """Start a renderer for one original; see `render.open_renderer`."""

    def __call__(
        self,
        path: str,
        *,
        image_type: str,
        variants: tuple[Variant, ...],
        settings: MediaSettings,
        on_tick: Callable[[], None],
    ) -> AbstractContextManager[Renderer]: ...


def process(
    media_id: UUID,
    number: int,
    *,
    open_renderer: OpenRenderer = open_renderer,
    clock: Callable[[], datetime] = timezone.now,
) -> None:
    """Bring a Version as far as it goes: to Ready, to failed, or back to pending; or do nothing.

    Nothing is done where it is Ready, failed, superseded, deleted, not due, or in the hands of another worker.
    Raises only what nobody foresaw, after the Version has gone back to pending.
    """
    lease = claim(media_id, number, conf=media_settings(), clock=clock)
    if lease is None:
        return
    try:
        _attempt(lease, open_renderer)
    except OperationalError as error:
        # The end of the attempt could not be written either: the lease runs out, and reconcile sees to the rest.
        lease.log("left to expire", detail=str(error))


def _attempt(lease: Lease, open_renderer: OpenRenderer) -> None:
    try:
        with _reasons():
            make_renditions(lease, open_renderer)
            finish(lease)
    except LeaseLost:
        lease.log("lease lost")
    except HandedBack:
        hand_back(lease)
    except PermanentError as error:
        fail(lease, error)
    except TransientError as error:
        retry(lease, error)
    except Exception as error:
        requeue(lease, Failure(code="", detail=repr(error)), is_strike=False)
        raise


def make_renditions(lease: Lease, open_renderer: OpenRenderer) -> None:
    """Make the renditions that are missing; each has its row when this returns."""
    version = lease.version
    if version.missing_variants() == ():
        return
    with (
        _staged_original(version) as path,
        open_renderer(
            path,
            image_type=version.image_type,
            # All of the set, whatever is missing: the largest decides how the original is shrunk, and the bytes of a
            # rendition must not depend on which of the others were made before a crash.
            variants=version.recipes,
            settings=lease.conf,
            on_tick=lease.tick,
        ) as renderer,
    ):
        measure(lease, renderer)
        for variant in version.missing_variants() or ():
            make_rendition(lease, renderer, variant)


def measure(lease: Lease, renderer: Renderer) -> None:
    """Record the size of the original, which decides the variants that are required."""
    if lease.version.size is not None:
        return
    measured = renderer.measure()
    require(lease.held().measure(measured))
    lease.version.refresh_from_db()


def make_rendition(lease: Lease, renderer: Renderer, variant: Variant) -> None:
    """Render, store, read back, verify; then, in one transaction, the row and the count of attempts anew."""
    rendered = renderer.render(variant)
    # What comes late to the store is harmless, but it is better not to come.
    lease.check()
    key = _store(lease, variant, rendered)
    _verify(renderer, key, rendered)
    now = lease.clock()
    with transaction.atomic():
        require(lease.held().progress(lease_until=now + timedelta(seconds=lease.conf.lease_seconds)))
        record_rendition(lease.version, variant.name, rendered, key=key, now=now)
    lease.version.refresh_from_db()
    lease.log("rendition", variant=variant.name, bytes=len(rendered.data))


def record_rendition(version: Version, variant: str, rendered: Rendered, *, key: str, now: datetime) -> None:
    """Insert the row of a file that is durable and verified."""
    Rendition.objects.create(
        version=version,
        variant=variant,
        format=rendered.format,
        width=rendered.size.width,
        height=rendered.size.height,
        byte_size=len(rendered.data),
        sha256=hashlib.sha256(rendered.data).hexdigest(),
        storage_key=key,
        created_at=now,
    )


@contextmanager
def _reasons() -> Iterator[None]:
    """Name what the system, and not the image, can do wrong."""
    try:
        yield
    except MemoryError as error:
        raise TransientError(FailureCode.OUT_OF_MEMORY, "in the worker itself") from error
    except (OSError, OperationalError) as error:
        raise TransientError(FailureCode.STORAGE_UNAVAILABLE, str(error) or repr(error)) from error


@contextmanager
def _staged_original(version: Version) -> Iterator[str]:
    """Give the path of the staged original, after its checksum was compared with the row's."""
    with ExitStack() as stack:
        try:
            path = stack.enter_context(local_path(staging_storage(), version.staging_key))
            with Path(path).open("rb") as original:
                sha256 = sha256_of(original)
        except (FileNotFoundError, IsADirectoryError) as error:
            raise PermanentError(FailureCode.ORIGINAL_LOST, str(error)) from error
        if sha256 != version.sha256:
            raise PermanentError(FailureCode.ORIGINAL_LOST, f"the staged file has SHA-256 {sha256}")
        yield path


def _store(lease: Lease, variant: Variant, rendered: Rendered) -> str:
    """Create the file and return its key; adopt one that is there already with the very same bytes."""
    storage, extension = renditions_storage(), EXTENSIONS[rendered.format]
    for name in (variant.name, f"{variant.name}.{lease.version.attempts}"):
        key = lease.version.key_for(name, extension)
        try:
            return storage.save(key, ContentFile(rendered.data))
        except FileExistsError:
            if read(storage, key) == rendered.data:
                return key
    raise TransientError(FailureCode.STORAGE_UNAVAILABLE, f"{key} holds other bytes")


def _verify(renderer: Renderer, key: str, rendered: Rendered) -> None:
    data = read(renditions_storage(), key)
    if data != rendered.data:
        raise TransientError(FailureCode.STORAGE_UNAVAILABLE, f"{key} was not read back as it was written")
    verified = renderer.verify(data)
    if (verified.format, verified.size) != (rendered.format, rendered.size):
        raise TransientError(FailureCode.STORAGE_UNAVAILABLE, f"{key} decodes to {verified}")
