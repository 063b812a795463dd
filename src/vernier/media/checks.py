"""System checks: a misconfiguration is found at start, with an id and a hint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.checks import CheckMessage, Error, Warning, register  # noqa: A004 - Django's name
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import InvalidStorageError, storages
from django.db import DEFAULT_DB_ALIAS, connections
from django.utils.module_loading import import_string

from vernier.media.conf import MediaSettings, media_settings
from vernier.media.sniff import IMAGE_TYPES
from vernier.media.storages import ORIGINALS, RENDITIONS, STAGING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.apps.config import AppConfig

E_SETTINGS = "vernier_media.E001"
E_STORAGE_MISSING = "vernier_media.E002"
E_STORAGE_OVERWRITES = "vernier_media.E003"
W_DEFERRED = "vernier_media.W001"


@register
def check_media(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401, ARG001 - Django's signature
    """Return what is wrong with VERNIER_MEDIA and with the storages that it needs."""
    try:
        conf = media_settings()
    except (ImproperlyConfigured, TypeError, ValueError) as error:
        return [Error(str(error), hint="See vernier.media.conf.MediaSettings for the keys.", id=E_SETTINGS)]
    return [*_check_values(conf), *_check_storages(conf), *_check_database()]


def _check_values(conf: MediaSettings) -> Iterator[CheckMessage]:
    unknown = sorted(set(conf.upload_types) - set(IMAGE_TYPES))
    if unknown or not conf.upload_types:
        yield _wrong("UPLOAD_TYPES", conf.upload_types, f"one or more of {', '.join(IMAGE_TYPES)}")
    names = [variant.name for variant in conf.variants]
    if not names or len(set(names)) != len(names) or conf.variants[0].narrower:
        yield _wrong("VARIANTS", names, "different names, of which the first is not a narrower one")
    for key in (
        "upload_max_bytes", "pixels_max", "lease_seconds", "max_attempts", "backoff_seconds", "reconcile_seconds",
        "staging_grace_seconds", "sweep_grace_seconds", "render_memory_bytes", "render_cpu_seconds",
        "render_wall_seconds",
    ):  # fmt: skip
        if getattr(conf, key) <= 0:
            yield _wrong(key.upper(), getattr(conf, key), "a number above 0")
    if conf.backoff_max_seconds < conf.backoff_seconds:
        yield _wrong("BACKOFF_MAX_SECONDS", conf.backoff_max_seconds, "not below BACKOFF_SECONDS")
    for key, path in {"LIVE_JOBS": conf.live_jobs, "PURGE": conf.purge}.items():
        if path is not None:
            yield from _check_import(key, path)


def _check_storages(conf: MediaSettings) -> Iterator[CheckMessage]:
    for alias in (STAGING, RENDITIONS, *([ORIGINALS] if conf.keep_originals else [])):
        try:
            storage = storages[alias]
        except InvalidStorageError:
            yield Error(
                f"STORAGES has no alias {alias!r}, which vernier.media writes to.",
                hint="Use vernier.media.storages.DurableFileSystemStorage or DatabaseStorage.",
                id=E_STORAGE_MISSING,
            )
            continue
        if not getattr(storage, "exclusive_create", False):
            yield Error(
                f"The storage {alias!r} ({type(storage).__qualname__}) may overwrite a file or store it under"
                " another name: it does not declare `exclusive_create = True`.",
                hint="save() must raise FileExistsError where the name is taken. Retries are safe only then.",
                id=E_STORAGE_OVERWRITES,
            )


def _check_database() -> Iterator[CheckMessage]:
    """Warn of deferred transactions on SQLite: those that read first and then write fail when another one writes."""
    database = connections[DEFAULT_DB_ALIAS]
    mode = str(database.settings_dict["OPTIONS"].get("transaction_mode", "DEFERRED")).upper()
    if database.vendor == "sqlite" and mode == "DEFERRED":
        yield Warning(
            "The SQLite database has deferred transactions: of uploads that come together some fail as locked out.",
            hint='Set DATABASES["default"]["OPTIONS"]["transaction_mode"] to "IMMEDIATE", and "timeout" to 20.',
            id=W_DEFERRED,
        )


def _check_import(key: str, path: str) -> Iterator[CheckMessage]:
    try:
        import_string(path)
    except ImportError as error:
        yield _wrong(key, path, f"the dotted path of a function ({error})")


def _wrong(key: str, received: object, valid: str) -> CheckMessage:
    return Error(f"VERNIER_MEDIA[{key!r}] is {received!r}; valid is {valid}.", id=E_SETTINGS)
