"""Process: from a Version that is due to its renditions, and to Ready when the last of them is verified.

A job may run at any time, any number of times, beside others for the same Version: the lease decides who works, the
rows say what is missing, and files are only ever created.
"""

from __future__ import annotations

import hashlib
import logging
import random
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from django.core.files.base import ContentFile, File
from django.db import OperationalError, transaction
from django.utils import timezone

from vernier.media.conf import MediaSettings, media_settings
from vernier.media.exceptions import HandedBack, LeaseLost, PermanentError, TransientError
from vernier.media.failures import FailureCode
from vernier.media.jobs import ring, ring_clean_up
from vernier.media.lease import Lease, claim, request_stop, require
from vernier.media.log import log_transition
from vernier.media.models import Failure, Media, Rendition, Version, VersionQuerySet
from vernier.media.render import Measured, Rendered, Verified, open_renderer
from vernier.media.storages import (
    COPY_BYTES,
    local_path,
    originals_storage,
    renditions_storage,
    staging_storage,
)
from vernier.media.supersede import lock_media, restore_predecessor, supersede_older
from vernier.media.variants import EXTENSIONS, Variant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from uuid import UUID

    from django.core.files.storage import Storage

__all__ = ["process", "request_stop"]

logger = logging.getLogger("vernier.media")

# An original whose processing failed for a reason that may pass is kept so long, for "process again".
FAILED_ORIGINAL_DAYS = 7
FAILURE_DETAIL_CHARACTERS_MAX = 500


class Renderer(Protocol):
    """What process needs of `render.Renderer`."""

    def measure(self) -> Measured: ...
    def render(self, variant: Variant) -> Rendered: ...
    def verify(self, data: bytes) -> Verified: ...


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
        with _reasons():
            make_renditions(lease, open_renderer)
            finish(lease)
    except LeaseLost:
        lease.log("lease lost")
    except HandedBack:
        hand_back(lease)
    except PermanentError as error:
        fail(lease, Failure(code=error.code, detail=error.detail), keep_days=0)
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
    require(lease.held().measure(size=measured.size, has_alpha=measured.has_alpha))
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
        Rendition.objects.create(
            version=lease.version,
            variant=variant.name,
            format=rendered.format,
            width=rendered.size.width,
            height=rendered.size.height,
            byte_size=len(rendered.data),
            sha256=hashlib.sha256(rendered.data).hexdigest(),
            storage_key=key,
            created_at=now,
        )
    lease.version.refresh_from_db()
    lease.log("rendition", variant=variant.name, bytes=len(rendered.data))


def finish(lease: Lease) -> None:
    """Make the Version Ready and the one that is served; raise LeaseLost where it is not to be any more."""
    version = lease.version
    original_key = _keep_original(version) if lease.conf.keep_originals else ""
    with transaction.atomic():
        media = lock_media(version.media_id)
        if media.deleted_at is not None or version.missing_variants() != ():
            raise LeaseLost
        now = lease.clock()
        require(lease.held().finish(now=now, original_key=original_key))
        supersede_older(version, now=now, conf=lease.conf)
        Media.objects.filter(pk=media.pk).update(current=version)
    lease.log("ready")
    for ended in media.versions.exclude(staging_key="").filter(staging_delete_at=now):
        discard_staged(ended)


def fail(lease: Lease, failure: Failure, *, keep_days: float) -> None:
    """End the Version as failed; its original goes at once, or after `keep_days`."""
    now = lease.clock()
    if not end_failed(lease.held(), lease.version, failure, now=now, keep_days=keep_days):
        lease.log("lease lost")
        return
    lease.log("failed", code=failure.code, detail=failure.detail)
    if not keep_days:
        discard_staged(lease.version)


def end_failed(rows: VersionQuerySet, version: Version, failure: Failure, *, now: datetime, keep_days: float) -> bool:
    """Fail the Version if it is among `rows`, and give an older unfinished one its turn; return whether it was."""
    keep_until = now + timedelta(days=keep_days)
    with transaction.atomic():
        lock_media(version.media_id)
        if not rows.filter(pk=version.pk).fail(now=now, failure=_bounded(failure), keep_until=keep_until):
            return False
        if version.renditions.exists():
            ring_clean_up(version, at=keep_until)
        restore_predecessor(version, now=now)
    return True


def retry(lease: Lease, error: TransientError) -> None:
    """Put the Version back for another attempt, or fail it where this kind of failure has had its tries."""
    failure = Failure(code=error.code, detail=error.detail)
    is_strike = error.tries_max is not None
    has_struck_out = error.tries_max is not None and lease.version.strikes + 1 >= error.tries_max
    if has_struck_out or lease.version.attempts >= lease.conf.max_attempts:
        fail(lease, failure, keep_days=FAILED_ORIGINAL_DAYS)
    else:
        requeue(lease, failure, is_strike=is_strike)


def requeue(lease: Lease, failure: Failure, *, is_strike: bool) -> None:
    """Put the Version back to pending after a delay, with a job for that time."""
    now = lease.clock()
    at = now + backoff(lease.version.attempts, lease.conf)
    failure = _bounded(failure)
    with transaction.atomic():
        if not lease.held().requeue(now=now, at=at, failure=failure, is_strike=is_strike):
            lease.log("lease lost")
            return
        ring(lease.version, at=at)
    lease.log("requeued", code=failure.code, detail=failure.detail, at=at.isoformat())


def hand_back(lease: Lease) -> None:
    """Put the Version back to pending at once and uncounted: this worker was told to stop."""
    with transaction.atomic():
        if not lease.held().hand_back(now=lease.clock()):
            lease.log("lease lost")
            return
        ring(lease.version)
    lease.log("handed back")


def backoff(attempts: int, conf: MediaSettings) -> timedelta:
    """Return the delay after so many attempts: doubled each time, up to the maximum, less a random part.

    The random part, up to half, keeps jobs that failed together from coming back together.
    """
    longest = min(conf.backoff_max_seconds, conf.backoff_seconds * 2 ** min(attempts - 1, 30))
    return timedelta(seconds=longest * random.uniform(0.5, 1.0))  # noqa: S311 - spreads load, protects nothing


def process_again(version: Version, *, now: datetime) -> bool:
    """Give a failed Version a fresh start; return whether that was possible.

    It is where the failure may pass (its original is still staged) and nothing newer has been accepted.
    """
    with transaction.atomic():
        media = lock_media(version.media_id)
        again = (
            Version.objects.filter(pk=version.pk, status=Version.Status.FAILED, number=media.newest_number)
            .filter(staging_delete_at__gt=now, cleanup_at__gt=now, media__deleted_at=None)
            .exclude(staging_key="")
            .restart(now=now)
        )
        if again:
            ring(version)
    if again:
        log_transition("started again", media_id=version.media_id, version=version.number, attempt=0)
    return bool(again)


def discard_staged(version: Version) -> None:
    """Delete the staged original of a Version that has ended, then its key; what fails here is done by reconcile."""
    if not version.staging_key:
        return
    try:
        staging_storage().delete(version.staging_key)
    except OSError:
        logger.exception("staged original not deleted media=%s version=%d", version.media_id, version.number)
        return
    Version.objects.filter(pk=version.pk, staging_key=version.staging_key).update(staging_key="")


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
                sha256 = _sha256_of(original)
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
            if _read(storage, key) == rendered.data:
                return key
    raise TransientError(FailureCode.STORAGE_UNAVAILABLE, f"{key} holds other bytes")


def _verify(renderer: Renderer, key: str, rendered: Rendered) -> None:
    data = _read(renditions_storage(), key)
    if data != rendered.data:
        raise TransientError(FailureCode.STORAGE_UNAVAILABLE, f"{key} was not read back as it was written")
    verified = renderer.verify(data)
    if (verified.format, verified.size) != (rendered.format, rendered.size):
        raise TransientError(FailureCode.STORAGE_UNAVAILABLE, f"{key} decodes to {verified}")


def _keep_original(version: Version) -> str:
    """Copy the original to its store and return its key, or nothing where the staged file is gone."""
    storage, key = originals_storage(), version.key_for("original", version.extension)
    try:
        with staging_storage().open(version.staging_key) as staged:
            key = storage.save(key, staged)
    except FileNotFoundError:
        return ""
    except FileExistsError:
        # An earlier attempt made it; it is compared below like a new one.
        pass
    with storage.open(key) as kept:
        sha256 = _sha256_of(kept)
    if sha256 != version.sha256:
        raise TransientError(FailureCode.STORAGE_UNAVAILABLE, f"{key} was not read back as it was written")
    return key


def _read(storage: Storage, key: str) -> bytes:
    with storage.open(key) as stored:
        return bytes(stored.read())


def _sha256_of(opened: IO[bytes] | File[bytes]) -> str:
    sha256 = hashlib.sha256()
    while chunk := opened.read(COPY_BYTES):
        sha256.update(chunk)
    return sha256.hexdigest()


def _bounded(failure: Failure) -> Failure:
    return replace(failure, detail=failure.detail[:FAILURE_DETAIL_CHARACTERS_MAX])
