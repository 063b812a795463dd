"""The settings of this app: one dictionary `VERNIER_MEDIA` in Django's settings, read when it is needed."""

from __future__ import annotations

from dataclasses import dataclass

from vernier.conf import read_settings
from vernier.media.variants import DEFAULT_VARIANTS, Variant

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaSettings:
    """One value per key of `VERNIER_MEDIA`; the key is the field's name in capitals."""

    # The ceiling of one upload, in bytes; a phone's largest photo is about 12 MiB.
    upload_max_bytes: int = 20 * MIB
    # Names of `sniff.IMAGE_TYPES` that are accepted.
    upload_types: tuple[str, ...] = ("jpeg", "png", "webp")
    # Width times height of an original; checked from its header, before it is decoded.
    pixels_max: int = 100_000_000
    variants: tuple[Variant, ...] = DEFAULT_VARIANTS
    # Keep the originals of Ready Versions in the storage alias `originals`.
    keep_originals: bool = False
    # How long a worker may stay silent before another takes its work over.
    lease_seconds: int = 60
    # Claims in a row without a rendition stored, after which a Version fails.
    max_attempts: int = 8
    # The first retry waits this long, each later one twice as long as the one before, at most the maximum.
    backoff_seconds: float = 5
    backoff_max_seconds: float = 900
    reconcile_seconds: float = 60
    # A staged file that no row names is removed when it is this old: longer than the longest upload.
    staging_grace_seconds: float = 3600
    # A rendition or kept original that no row names is removed when it was seen twice, this far apart: a day is far
    # beyond any lease, and an operator who has restored an older database has time to notice.
    sweep_grace_seconds: float = 24 * 3600
    # How long the files of a Version that was served stay after a newer one has taken its place: caches and feeds
    # name them.
    cleanup_grace_seconds: float = 24 * 3600
    # Dotted path of a function (see `clean_up.Purge`) that makes caches forget what is about to be removed; files
    # are removed only after it has succeeded.
    purge: str | None = None
    # How long an Idempotency-Key is remembered.
    upload_key_seconds: float = 24 * 3600
    # Limits of the child process that decodes and encodes. The test corpus passes under them.
    render_memory_bytes: int = 1536 * MIB
    render_cpu_seconds: int = 30
    # Wall clock for one answer of the child (one rendition); a busy machine is slower than its CPU time says.
    render_wall_seconds: float = 120
    # Dotted path of a function that returns the (media id, version number) pairs which have a live job, or None
    # where the task engine cannot say: then lost work is rung again at a doubling interval.
    live_jobs: str | None = None


def media_settings() -> MediaSettings:
    """Return the settings in force; raise ImproperlyConfigured for a key that does not exist."""
    return read_settings("VERNIER_MEDIA", MediaSettings)
