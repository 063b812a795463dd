"""The grammar of the command `vernier`. Nothing of Django is loaded to read it."""

from __future__ import annotations

import argparse
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from vernier import __version__

DEFAULT_BIND = "127.0.0.1:8000"
# A worker takes one core and some hundred megabytes: more than this is a slip of the finger.
WORKERS_MAX = 64
_PORT_MAX = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class Bind:
    """Where to listen."""

    host: str
    port: int


def parse(argv: list[str]) -> argparse.Namespace:
    """Return the arguments; `module` names the module whose `run` carries the command out."""
    if argv[:1] == ["manage"]:
        # What follows, --help too, is Django's business.
        return argparse.Namespace(module="vernier.cli.manage", arguments=argv[1:])
    return build_parser().parse_args(argv)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(prog="vernier", description="A self-hosted IndieWeb server.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"vernier {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    _add_servers(commands)
    _add_authors(commands)
    _add_media(commands)
    _add_exchange(commands)
    _add_operations(commands)
    return parser


type _Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - it has no public name


def _add_servers(commands: _Commands) -> None:
    serve = _add(commands, "serve", "web, worker and schedule in one; SIGTERM ends it")
    serve.add_argument("--bind", type=parse_bind, default=DEFAULT_BIND, metavar="HOST:PORT", help=_BIND_HELP)
    serve.add_argument(
        "--workers", type=_parse_workers, default=1, metavar="N", help="worker processes (%(default)s)"
    )
    web = _add(commands, "web", "the web server alone")
    web.add_argument("--bind", type=parse_bind, default=DEFAULT_BIND, metavar="HOST:PORT", help=_BIND_HELP)
    web.add_argument("--fd", type=_parse_socket, metavar="N", help=argparse.SUPPRESS)
    worker = _add(commands, "worker", "a worker alone")
    worker.add_argument("--drain", action="store_true", help="run all work that is due, then end")
    for part in (serve, web, worker):
        part.set_defaults(is_server=True)
    for part in (web, worker):
        # Given by `serve` to its children.
        part.add_argument("--supervised", action="store_true", help=argparse.SUPPRESS)


def _add_authors(commands: _Commands) -> None:
    author = _add(commands, "author", "the people who publish here").add_subparsers(required=True, metavar="COMMAND")
    create = _add(author, "create", "make a new author and print a sign-in link", module="vernier.cli.author")
    create.add_argument("name", type=_parse_text, metavar="NAME")
    create.add_argument("--email", type=_parse_text, default="", metavar="ADDRESS")
    link = _add(author, "link", "print a new link that signs an author in once", module="vernier.cli.author")
    link.add_argument("name", type=_parse_text, metavar="NAME")
    listing = _add(author, "list", "print a line for each author", module="vernier.cli.author")
    for action, parser in (("create", create), ("link", link), ("list", listing)):
        parser.set_defaults(action=action)
    token = _add(commands, "token", "the tokens of their programs").add_subparsers(required=True, metavar="COMMAND")
    create = _add(token, "create", "make a bearer token and print it", module="vernier.cli.token")
    create.add_argument("--author", type=_parse_text, required=True, metavar="NAME")
    create.add_argument(
        "--scope", type=_parse_text, required=True, metavar="SCOPES", help='such as "create update delete media"'
    )


def _add_media(commands: _Commands) -> None:
    media = _add(commands, "media", "images").add_subparsers(required=True, metavar="COMMAND")
    upload = _add(media, "upload", "upload files and print a URL for each", module="vernier.cli.upload")
    upload.add_argument("files", type=Path, nargs="+", metavar="FILE")
    upload.add_argument("--author", type=_parse_text, required=True, metavar="NAME")


def _add_exchange(commands: _Commands) -> None:
    imports = _add(
        commands, "import", "take posts (Markdown with front matter) and images from a folder", module=_EXCHANGE
    )
    imports.add_argument("folder", type=Path, metavar="FOLDER")
    imports.add_argument("--author", type=_parse_text, required=True, metavar="NAME")
    imports.add_argument("--dry-run", action="store_true", help="only look; nothing is written")
    imports.add_argument("--photo-posts", action="store_true", help="make a post of each image that no post shows")
    exports = _add(commands, "export", "write all posts and images as files into a new folder", module=_EXCHANGE)
    exports.add_argument("folder", type=Path, metavar="FOLDER")


def _add_operations(commands: _Commands) -> None:
    status = _add(commands, "status", "uploads and jobs at a glance").add_mutually_exclusive_group()
    status.add_argument("--json", action="store_true", help="print JSON")
    status.add_argument("--watch", action="store_true", help="look again every two seconds until Ctrl-C")
    doctor = _add(commands, "doctor", "find and repair what is lost, damaged or left over")
    doctor.add_argument("--dry-run", action="store_true", help="only look; nothing is written")
    doctor.add_argument("--json", action="store_true", help="print JSON")
    doctor.add_argument("--force", action="store_true", help="go on although much is wrong at once")
    backup = _add(commands, "backup", "copy the database, whole and checked, at any moment")
    backup.add_argument("file", type=_parse_file, metavar="FILE", help="the new file; nothing is overwritten")
    restore = _add(commands, "restore", "put a backup in the place of the database, which is kept")
    restore.add_argument("file", type=_parse_file, metavar="FILE", help="a backup, or a plain copy of vernier.db")
    restore.add_argument("--force", action="store_true", help="restore it although images are incomplete in it")
    # It prepares by itself, as what `serve` has started: the database that it replaces may be damaged or newer.
    restore.set_defaults(supervised=True)
    # For the list of commands only; see `parse`.
    commands.add_parser("manage", help="Django's own commands")


def parse_bind(given: str) -> Bind:
    """Return the host and port of `HOST:PORT`, `[IPv6]:PORT` or `:PORT`; raise ArgumentTypeError."""
    host, colon, port = given.rpartition(":")
    if not (colon and port.isascii() and port.isdigit() and int(port) <= _PORT_MAX):
        raise argparse.ArgumentTypeError(f"{given!r} is no address; valid is HOST:PORT, such as {DEFAULT_BIND}")
    return Bind(host=host.removeprefix("[").removesuffix("]") or "127.0.0.1", port=int(port))


def _parse_workers(given: str) -> int:
    if not (given.isascii() and given.isdigit() and 1 <= int(given) <= WORKERS_MAX):
        raise argparse.ArgumentTypeError(f"{given!r} is no number of workers; valid is 1 to {WORKERS_MAX}")
    return int(given)


def _parse_socket(given: str) -> int:
    if not _is_socket(given):
        raise argparse.ArgumentTypeError(f"{given!r} is not the number of an open socket")
    return int(given)


def _is_socket(given: str) -> bool:
    try:
        return int(given) >= 0 and stat.S_ISSOCK(os.fstat(int(given)).st_mode)
    except (ValueError, OverflowError, OSError):
        return False


def _parse_text(given: str) -> str:
    """Return what can be looked up and stored: the system hands over bytes, which may be those of no text."""
    try:
        given.encode()
    except UnicodeEncodeError as error:
        raise argparse.ArgumentTypeError(f"{given!r} is no text; valid is UTF-8") from error
    return given


def _parse_file(given: str) -> Path:
    """Return the path of a database file, which SQLite takes as a text."""
    if not given:
        raise argparse.ArgumentTypeError("'' is no file; valid is a path")
    return Path(_parse_text(given))


def _add(commands: _Commands, name: str, summary: str, *, module: str = "") -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", allow_abbrev=False
    )
    parser.set_defaults(module=module or f"vernier.cli.{name}")
    return parser


_EXCHANGE = "vernier.cli.exchange"
_BIND_HELP = "the address to listen on (%(default)s)"
