"""System checks: a misconfiguration is found at start, with an id and a hint."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register  # noqa: A004 - Django's name
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import FileSystemStorage, InvalidStorageError, storages
from django.db import DEFAULT_DB_ALIAS, connections
from django.tasks import DEFAULT_TASK_BACKEND_ALIAS, DEFAULT_TASK_QUEUE_NAME, task_backends
from django.tasks.exceptions import InvalidTaskBackend
from django.utils.module_loading import import_string

from vernier.media.conf import MediaSettings, media_settings
from vernier.media.sniff import HEIC, IMAGE_TYPES
from vernier.media.storages import ORIGINALS, RENDITIONS, STAGING
from vernier.media.variants import Variant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.apps.config import AppConfig
    from django.core.files.storage import Storage

E_SETTINGS = "vernier_media.E001"
E_STORAGE_MISSING = "vernier_media.E002"
E_STORAGE_OVERWRITES = "vernier_media.E003"
E_STORAGE_PUBLIC = "vernier_media.E004"
E_TASKS = "vernier_media.E005"
W_DEFERRED = "vernier_media.W001"

# HEIC is known, so that it is refused by its name; nothing here decodes it.
_DECODED = [name for name in IMAGE_TYPES if name != HEIC.name]
# Numbers that may be 0; any other has to be above it.
_MAY_BE_ZERO = {"cleanup_grace_seconds"}


@register
def check_media(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401, ARG001 - Django's signature
    """Return what is wrong with VERNIER_MEDIA, and with the storages and the task engine that it needs."""
    try:
        conf = media_settings()
    except (ImproperlyConfigured, TypeError, ValueError) as error:
        return [Error(str(error), hint="See vernier.media.conf.MediaSettings for the keys.", id=E_SETTINGS)]
    return [*_check_values(conf), *_check_storages(conf), *_check_tasks(), *_check_database()]


def _check_values(conf: MediaSettings) -> Iterator[CheckMessage]:
    if not _is_list_of(str, conf.upload_types) or set(conf.upload_types) - set(_DECODED):
        yield _wrong("UPLOAD_TYPES", conf.upload_types, f"a list of one or more of {', '.join(_DECODED)}")
    if not _is_list_of(Variant, conf.variants):
        yield _wrong("VARIANTS", conf.variants, "a list of one or more vernier.media.variants.Variant")
    elif len({variant.name for variant in conf.variants}) != len(conf.variants) or conf.variants[0].narrower:
        names = [variant.name for variant in conf.variants]
        yield _wrong("VARIANTS", names, "different names, of which the first is not a narrower one")
    yield from _check_numbers(conf)
    for key, path in {"LIVE_JOBS": conf.live_jobs, "PURGE": conf.purge}.items():
        if path is not None:
            yield from _check_import(key, path)


def _check_numbers(conf: MediaSettings) -> Iterator[CheckMessage]:
    for field in fields(conf):
        if field.type not in {"int", "float"}:
            continue
        value = getattr(conf, field.name)
        zero_is_valid = field.name in _MAY_BE_ZERO
        if not isinstance(value, int | float) or value < 0 or (value == 0 and not zero_is_valid):
            yield _wrong(field.name.upper(), value, f"a number {'from' if zero_is_valid else 'above'} 0")
        elif field.name == "backoff_max_seconds" and conf.backoff_seconds > value:
            yield _wrong("BACKOFF_MAX_SECONDS", value, "not below BACKOFF_SECONDS")


def _check_storages(conf: MediaSettings) -> Iterator[CheckMessage]:
    for alias in (STAGING, RENDITIONS, *([ORIGINALS] if conf.keep_originals else [])):
        try:
            storage = storages[alias]
        except InvalidStorageError as error:
            yield Error(
                f"STORAGES has no usable alias {alias!r}, which vernier.media writes to: {error}",
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
        if alias != RENDITIONS and _is_public(storage):
            yield Error(
                f"The storage {alias!r} is in MEDIA_ROOT, which web servers publish: nobody but this app may read"
                " originals, whose metadata may say where a photo was taken.",
                hint=f'Set STORAGES["{alias}"]["OPTIONS"]["location"] to a directory of its own.',
                id=E_STORAGE_PUBLIC,
            )


def _is_public(storage: Storage) -> bool:
    """Tell whether the store is within MEDIA_ROOT; where no location is given, it is MEDIA_ROOT itself."""
    if not isinstance(storage, FileSystemStorage):
        return False
    root, location = Path(settings.MEDIA_ROOT).resolve(), Path(storage.location).resolve()
    # Where MEDIA_ROOT is not set, it is the current directory and nobody publishes what is below it.
    return location == root or (bool(settings.MEDIA_ROOT) and location.is_relative_to(root))


def _check_tasks() -> Iterator[CheckMessage]:
    """Complain of an engine that would process uploads in the request, lose their retries or refuse their jobs."""
    try:
        backend = task_backends[DEFAULT_TASK_BACKEND_ALIAS]
    except InvalidTaskBackend as error:
        yield _wrong_tasks(f"cannot be used: {error}")
        return
    if not backend.supports_defer:
        yield _wrong_tasks(
            f"({type(backend).__qualname__}) cannot run a job later, so that nothing would be retried."
        )
    if backend.queues and DEFAULT_TASK_QUEUE_NAME not in backend.queues:
        yield _wrong_tasks(f"has no queue {DEFAULT_TASK_QUEUE_NAME!r}, only {sorted(backend.queues)}.")


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


def _check_import(key: str, path: object) -> Iterator[CheckMessage]:
    try:
        is_function = isinstance(path, str) and callable(import_string(path))
    except ImportError as error:
        yield _wrong(key, path, f"the dotted path of a function ({error})")
        return
    if not is_function:
        yield _wrong(key, path, "the dotted path of a function")


def _wrong(key: str, received: object, valid: str) -> CheckMessage:
    return Error(f"VERNIER_MEDIA[{key!r}] is {received!r}; valid is {valid}.", id=E_SETTINGS)


def _wrong_tasks(complaint: str) -> CheckMessage:
    return Error(
        f"TASKS['default'], which runs the jobs of vernier.media, {complaint}",
        hint='Use an engine that keeps jobs, such as {"BACKEND": "django_ox.backend.OxBackend"}.',
        id=E_TASKS,
    )


def _is_list_of(kind: type, value: object) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(item, kind) for item in value)
