"""The settings of a site: one table of options, read from the environment and from `.env` in the data directory."""

from __future__ import annotations

from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from dotenv import dotenv_values

from vernier.media.conf import MIB, MediaSettings
from vernier.media.sniff import HEIC, IMAGE_TYPES
from vernier.site.exceptions import SettingError
from vernier.site.kinds import Kind, address, choice, names, number, path, switch, text, time_zone, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "VERNIER_"
DOTENV = ".env"
# Where a running server leaves the address it listens on, for the commands beside it.
ADDRESS_FILE = Path("run") / "address"
# A module and a name in it.
_DOTTED_WORDS_MIN = 2
DEFAULT_BASE_URL = "http://127.0.0.1:8000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A setting: its name without the prefix, its value when nothing is given, what is valid, what it does."""

    name: str
    default: Any
    kind: Kind
    help: str

    @property
    def variable(self) -> str:
        return PREFIX + self.name

    def parse(self, given: str) -> object:
        """Return the value that the text stands for; raise SettingError."""
        try:
            return self.kind.parse(given)
        except ValueError as error:
            raise SettingError(f"{self.variable} is {given!r}; valid is {self.kind.valid}.") from error


def _template() -> Kind:
    """Take an address that has the place for another one, percent-encoded, in its path or query."""

    def parse(given: str) -> str:
        parts = urlsplit(given.strip())
        is_plain = given.strip().isascii() and given.strip().isprintable() and " " not in given.strip()
        has_host = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        if not is_plain or not has_host or "@" in parts.netloc or "{url}" not in parts.path + parts.query:
            raise ValueError(given)
        return given.strip()

    return Kind(parse=parse, valid="an http:// or https:// address in which {url} stands for the one to forget")


def _dotted_path() -> Kind:
    def parse(given: str) -> str:
        words = given.strip().split(".")
        if len(words) < _DOTTED_WORDS_MIN or not all(word.isidentifier() for word in words):
            raise ValueError(given)
        return given.strip()

    return Kind(parse=parse, valid="the dotted path of a function, such as mysite.cache.purge")


_MEDIA: dict[str, Any] = {field.name: field.default for field in fields(MediaSettings)}

OPTIONS = (
    Option(
        name="DATA_DIR",
        default=Path("vernier-data"),
        kind=path(),
        help="The directory of the database, the staged uploads and the secret key.",
    ),
    Option(
        name="BASE_URL",
        default=None,
        kind=address(),
        help="The address under which readers reach the site; else that of the running server.",
    ),
    Option(
        name="SECRET_KEY",
        default=None,
        kind=text(length_min=32),
        help="Signs sessions; else made once and kept in the data directory.",
    ),
    Option(
        name="UPLOAD_MAX_BYTES",
        default=_MEDIA["upload_max_bytes"],
        kind=whole(1, 1024 * MIB),
        help="The ceiling of one upload, in bytes.",
    ),
    Option(
        name="UPLOAD_TYPES",
        default=_MEDIA["upload_types"],
        kind=names(*(name for name in IMAGE_TYPES if name != HEIC.name)),
        help="The types of image that are accepted; HEIC has no decoder here.",
    ),
    Option(
        name="PIXELS_MAX",
        default=_MEDIA["pixels_max"],
        kind=whole(1, 1_000_000_000),
        help="The most pixels (width times height) of an image.",
    ),
    Option(
        name="LEASE_SECONDS",
        default=_MEDIA["lease_seconds"],
        kind=whole(5, 3600),
        help="How long a worker may stay silent before another takes its work over.",
    ),
    Option(
        name="MAX_ATTEMPTS",
        default=_MEDIA["max_attempts"],
        kind=whole(1, 100),
        help="Attempts in a row without progress, after which an upload fails.",
    ),
    Option(
        name="BACKOFF_SECONDS",
        default=_MEDIA["backoff_seconds"],
        kind=number(0.1, _MEDIA["backoff_max_seconds"]),
        help="How long the first retry waits; each later one waits twice as long as the one before.",
    ),
    Option(
        name="RECONCILE_SECONDS",
        default=_MEDIA["reconcile_seconds"],
        kind=number(1, 3600),
        help="How often lost work is looked for.",
    ),
    Option(
        name="STAGING_GRACE_SECONDS",
        default=_MEDIA["staging_grace_seconds"],
        kind=number(60, 30 * 24 * 3600),
        help="The age at which a staged file that nothing names is removed; longer than the longest upload.",
    ),
    Option(
        name="SWEEP_GRACE_SECONDS",
        default=_MEDIA["sweep_grace_seconds"],
        kind=number(60, 365 * 24 * 3600),
        help="How long a rendition or kept original that nothing names stays after it was first seen.",
    ),
    Option(
        name="CLEANUP_GRACE_SECONDS",
        default=_MEDIA["cleanup_grace_seconds"],
        # Without a grace nothing breaks for long: the addresses of what was removed redirect.
        kind=number(0, 365 * 24 * 3600),
        help="How long the files of a replaced image stay: caches and feeds name them.",
    ),
    Option(
        name="PURGE_URL",
        default=None,
        kind=_template(),
        help="What is requested once for each address that the cache in front of the site is to forget.",
    ),
    Option(
        name="PURGE_METHOD",
        default="PURGE",
        kind=choice("PURGE", "POST"),
        help="The HTTP method of these requests.",
    ),
    Option(
        name="PURGE",
        default=None,
        kind=_dotted_path(),
        help="A Python function `purge(media, versions)` that is called instead, and raises if it did not succeed.",
    ),
    Option(
        name="KEEP_ORIGINALS",
        default=_MEDIA["keep_originals"],
        kind=switch(),
        help="Whether originals are kept once their renditions are ready.",
    ),
    Option(
        name="MEDIA_WAIT_SECONDS",
        default=0.0,
        kind=number(0, 30),
        help="How long a request for an image that is not ready yet is held before it is answered 404.",
    ),
    Option(
        name="MEDIA_COMPATIBLE",
        default=False,
        kind=switch(),
        help="Whether only requests that name AVIF get it, and others the type that was uploaded.",
    ),
    Option(
        name="RENDER_MEMORY_BYTES",
        default=_MEDIA["render_memory_bytes"],
        kind=whole(256 * MIB, 64 * 1024 * MIB),
        help="The address space of the process that reads an image, in bytes.",
    ),
    Option(
        name="RENDER_CPU_SECONDS",
        default=_MEDIA["render_cpu_seconds"],
        kind=whole(1, 3600),
        help="The CPU time that an image may take, all its renditions together.",
    ),
    Option(
        name="RENDER_WALL_SECONDS",
        default=_MEDIA["render_wall_seconds"],
        kind=number(1, 3600),
        help="How long one rendition may take by the clock.",
    ),
    Option(
        name="LOG_FORMAT",
        default="text",
        kind=choice("text", "json"),
        help="How log lines are written.",
    ),
    Option(
        name="LOG_LEVEL",
        default="INFO",
        kind=choice("DEBUG", "INFO", "WARNING", "ERROR"),
        help="The least severe events that are logged.",
    ),
    Option(
        name="METRICS_PUBLIC",
        default=False,
        kind=switch(),
        help="Whether everybody may read /metrics, or only programs on this machine that come without a proxy.",
    ),
    Option(
        name="TIME_ZONE",
        default="UTC",
        kind=time_zone(),
        help="The time zone in which times are shown.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The values in force, by the options' names, and what the operator should be warned of."""

    values: dict[str, Any]
    warnings: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - each option has its own type
        return self.values[name]

    def is_given(self, name: str) -> bool:
        """Tell whether the operator has set the option."""
        return PREFIX + name in self.given


def read_environment(environ: Mapping[str, str]) -> Environment:
    """Return the value of every option; raise SettingError for the first that is not valid."""
    given = _given(environ)
    data_directory = _value(_option("DATA_DIR"), given).expanduser().absolute()
    given = {**_read_dotenv(data_directory / DOTENV), **given}
    values = {option.name: _value(option, given) for option in OPTIONS}
    values["DATA_DIR"] = data_directory
    values["BASE_URL"] = values["BASE_URL"] or running_address(data_directory) or DEFAULT_BASE_URL
    return Environment(values=values, warnings=tuple(_unknown(given)), given=frozenset(given))


def running_address(data_directory: Path) -> str | None:
    """Return the address that the last server on this data directory listened on, if there was one."""
    try:
        return (data_directory / ADDRESS_FILE).read_text(encoding="ascii").strip() or None
    except (OSError, ValueError):
        return None


def _given(source: Mapping[str, str | None]) -> dict[str, str]:
    """Return what is set under our prefix; an empty value counts as not set."""
    return {name: value for name, value in source.items() if name.startswith(PREFIX) and value}


def _read_dotenv(file: Path) -> dict[str, str]:
    try:
        return _given(dotenv_values(file, interpolate=False))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"The settings in {file} cannot be read: {error}.") from error


def _option(name: str) -> Option:
    return next(option for option in OPTIONS if option.name == name)


def _value(option: Option, given: Mapping[str, str]) -> Any:  # noqa: ANN401 - each option has its own type
    text_given = given.get(option.variable)
    return option.default if text_given is None else option.parse(text_given)


def _unknown(given: Mapping[str, str]) -> list[str]:
    known = {option.variable for option in OPTIONS}
    return [_describe_unknown(name) for name in sorted(set(given) - known)]


def _describe_unknown(name: str) -> str:
    close = get_close_matches(name.removeprefix(PREFIX), [option.name for option in OPTIONS], n=1)
    advice = f"; did you mean {PREFIX}{close[0]}?" if close else "."
    return f"{name} is not a setting of Vernier and is ignored{advice}"
