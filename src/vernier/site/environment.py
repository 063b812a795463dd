"""The settings in force: the options' values, read from the environment and from `.env` in the data directory."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dotenv.parser import parse_stream

from vernier.site.data_directory import RUN
from vernier.site.exceptions import SettingError
from vernier.site.options import OPTIONS, PREFIX, Option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dotenv.parser import Binding

DOTENV = ".env"
# Where a running server leaves the address it listens on, for the commands beside it.
ADDRESS_FILE = Path(RUN) / "address"
DEFAULT_BASE_URL = "http://127.0.0.1:8000"


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
    data_directory = _value(_option("DATA_DIR"), given).absolute()
    in_file = _read_dotenv(data_directory / DOTENV)
    warnings = _misplaced(in_file, data_directory / DOTENV)
    given = {**in_file, **given}
    values = {option.name: _value(option, given) for option in OPTIONS}
    values["DATA_DIR"] = data_directory
    values["BASE_URL"] = values["BASE_URL"] or running_address(data_directory) or DEFAULT_BASE_URL
    return Environment(values=values, warnings=(*warnings, *_unknown(given)), given=frozenset(given))


def running_address(data_directory: Path) -> str | None:
    """Return the address that the last server on this data directory listened on, if there was one."""
    try:
        address = (data_directory / ADDRESS_FILE).read_text(encoding="ascii").strip()
        return str(_option("BASE_URL").parse(address)) if address else None
    except (OSError, ValueError, SettingError):
        return None


def _given(source: Mapping[str, str | None]) -> dict[str, str]:
    """Return what is set under our prefix; an empty value counts as not set."""
    return {name: value for name, value in source.items() if name.startswith(PREFIX) and value}


def _read_dotenv(file: Path) -> dict[str, str]:
    """Return what the file sets; raise SettingError for a line that sets nothing, which may be a slip of the pen."""
    try:
        with file.open(encoding="utf-8") as opened:
            bindings = list(parse_stream(opened))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"The settings in {file} cannot be read: {error}.") from error
    for binding in bindings:
        if binding.error or (binding.key is not None and binding.value is None):
            # Not what is in the line: that may be a password.
            raise SettingError(f"Line {_line(binding)} of {file} is no setting; valid is NAME=VALUE.")
    return _given({binding.key: binding.value for binding in bindings if binding.key is not None})


def _line(binding: Binding) -> int:
    """Return the number of the first line that has something: blank ones before it count as a part of it."""
    text = binding.original.string
    return binding.original.line + text[: len(text) - len(text.lstrip())].count("\n")


def _misplaced(in_file: Mapping[str, str], file: Path) -> list[str]:
    """Warn of the one setting that is needed to find the file."""
    variable = _option("DATA_DIR").variable
    return [f"{variable} in {file} is ignored: set it in the environment."] if variable in in_file else []


def _option(name: str) -> Option:
    return next(option for option in OPTIONS if option.name == name)


def _value(option: Option, given: Mapping[str, str]) -> Any:  # noqa: ANN401 - each option has its own type
    text_given = given.get(option.variable)
    return option.default if text_given is None else option.parse(text_given)


def _unknown(given: Mapping[str, str]) -> list[str]:
    known = {option.variable for option in OPTIONS}
    return [_describe_unknown(name) for name in sorted(set(given) - known)]


def _describe_unknown(name: str) -> str:
    close = get_close_matches(name.removeprefix(PREFIX), [option.name for option in OPTIONS], n=1, cutoff=0.7)
    advice = f"; did you mean {PREFIX}{close[0]}?" if close else "."
    return f"{name} is not a setting of Vernier and is ignored{advice}"
