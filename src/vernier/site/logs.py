"""Structured logs on standard error: one line per event, in which the facts of the event keep their names."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

# What every record has; whatever else is on one was given with `extra`.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}
# Django hands these to its own handlers.
_OBJECTS = frozenset({"request", "server_time"})
# The engine's name for a look for work that met an error of the database.
_POLL_FAILED = "worker_poll_failed"
_TOLD_AGAIN_SECONDS = 60


def logging_settings(*, log_format: str, level: str) -> dict[str, Any]:
    """Return Django's LOGGING for the format `text` or `json`."""
    formatter = {"text": TextFormatter, "json": JsonFormatter}[log_format]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"seldom": {"()": f"{__name__}.Seldom"}},
        "formatters": {"event": {"()": f"{formatter.__module__}.{formatter.__qualname__}"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "event"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Django has handlers of its own on these; here every event is written once, by the root.
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.server": {"handlers": [], "level": level, "propagate": True},
            # What clients do wrong is no event of this site, and the addresses of images are secrets.
            "django.request": {"level": "ERROR"},
            "django.security.DisallowedHost": {"level": "CRITICAL"},
            "python_multipart": {"level": "ERROR"},
            # A template that looks for what is not there tells all that it has, such as a new token.
            "django.template": {"level": "INFO"},
            # What other sites do wrong is none either.
            "urllib3": {"level": "ERROR"},
            # The engine tells of every claim and end of a job; the transitions of the rows say the same in our words.
            "django_ox": {"level": level if level == "DEBUG" else "WARNING", "filters": ["seldom"]},
            "django.tasks": {"level": level if level == "DEBUG" else "WARNING"},
            "uvicorn": {"level": level if level == "DEBUG" else "WARNING"},
            # Sign-in links are secrets in an address too.
            "uvicorn.access": {"level": "WARNING"},
            # One line per query is no event.
            "django.db.backends": {"level": "INFO"},
            "asyncio": {"level": "WARNING"},
        },
    }


class Seldom(logging.Filter):
    """Let the task engine say once a minute that it has no database, in one line: it tries ten times a second.

    On a full disk, its tracebacks would be what keeps it full.
    """

    def __init__(self) -> None:
        super().__init__()
        self._told_at = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "event", "") != _POLL_FAILED or record.levelno >= logging.ERROR:
            return True
        # A clock that went back does not silence it.
        if 0 <= record.created - self._told_at < _TOLD_AGAIN_SECONDS:
            return False
        self._told_at = record.created
        record.msg, record.args = "No work is done: %s", (record.exc_info and record.exc_info[1],)
        record.exc_info = None
        return True


class TextFormatter(logging.Formatter):
    """`time LEVEL logger message fact=value ...`, without the facts that the message names itself."""

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        facts = "".join(
            f" {name}={value}"
            for name, value in _facts(record).items()
            if name != "event" and f"{name}={value}" not in message
        )
        line = f"{_time(record)} {record.levelname} {record.name} {message}{facts}".replace("\n", "\\n")
        trace = self._trace(record)
        return f"{line}\n{trace}" if trace else line

    def _trace(self, record: logging.LogRecord) -> str:
        """Return the traceback indented: no line of it can be taken for an event."""
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        return "".join(f"    {line}\n" for line in trace.splitlines()).rstrip("\n")


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        event = {
            **_facts(record),
            "time": _time(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            event["exception"] = self.formatException(record.exc_info)
        return json.dumps(event, ensure_ascii=False, default=str)


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in _STANDARD | _OBJECTS}


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
