"""The options of a site: one table, from which the settings are read and their page is made."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from vernier.media.conf import MIB, MediaSettings
from vernier.media.sniff import HEIC, IMAGE_TYPES
from vernier.site.data_directory import SECRET_KEY_LENGTH_MIN
from vernier.site.exceptions import SettingError
from vernier.site.kinds import (
    Kind,
    address,
    choice,
    dotted_path,
    email_address,
    hosts,
    language,
    mail_server,
    names,
    number,
    path,
    ports,
    switch,
    template,
    text,
    time_zone,
    whole,
)

PREFIX = "VERNIER_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A setting: its name without the prefix, its value when nothing is given, what is valid, what it does.

    What is given for one that is secret is never shown: the sentence goes into logs.
    """

    name: str
    default: Any
    kind: Kind
    help: str
    is_secret: bool = False

    @property
    def variable(self) -> str:
        return PREFIX + self.name

    def parse(self, given: str) -> object:
        """Return the value that the text stands for; raise SettingError."""
        try:
            # What the system hands over may be the bytes of no text, which cannot be shown or stored.
            given.encode()
            return self.kind.parse(given)
        except ValueError as error:
            received = "not valid (its value is not shown)" if self.is_secret else repr(given)
            raise SettingError(f"{self.variable} is {received}; valid is {self.kind.valid}.") from error


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
        kind=text(length_min=SECRET_KEY_LENGTH_MIN),
        help="Signs sessions; else made once and kept in the data directory.",
        is_secret=True,
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
        kind=template(),
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
        kind=dotted_path(),
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
        name="SITE_TITLE",
        default=None,
        kind=text(length_min=1),
        help="The name of the site on its pages and in its feeds; else its host name.",
    ),
    Option(
        name="LANGUAGE",
        default="en",
        kind=language(),
        help="The language that the site is written in, as pages and feeds declare it.",
    ),
    Option(
        name="EMAIL_URL",
        default=None,
        kind=mail_server(),
        help="The mail server; without one, no mail is sent and nobody signs in by mailed code.",
        is_secret=True,
    ),
    Option(
        name="EMAIL_FROM",
        default=None,
        kind=email_address(),
        help="The sender of all mail; else noreply at the site's host.",
    ),
    Option(
        name="MICROPUB_STRICT",
        default=False,
        kind=switch(),
        help="Whether a request that sends its token twice, in the header and in the body, is refused.",
    ),
    Option(
        name="PHOTO_HOSTS",
        default=(),
        kind=hosts(),
        help="Hosts from which a post's photos are copied; photos elsewhere are linked.",
    ),
    Option(
        name="FETCH_PORTS",
        default=(),
        kind=ports(),
        help="Ports of other sites to which the server connects, besides 80 and 443.",
    ),
    Option(
        name="FETCH_PRIVATE_HOSTS",
        default=(),
        kind=hosts(),
        help="Hosts that may be fetched from although they are in a private network.",
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
