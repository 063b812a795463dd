import json
import logging

import pytest

from vernier.site.logs import JsonFormatter, Seldom, TextFormatter, logging_settings


def record(message, *args, exc_info=None, **extra):
    return logging.getLogger("vernier.media").makeRecord(
        "vernier.media", logging.INFO, __file__, 1, message, args, exc_info, extra=extra
    )


def failure():
    try:
        int("no\nway")
    except ValueError as error:
        return (type(error), error, error.__traceback__)


def test_json__one_object_per_line_with_the_facts():
    line = JsonFormatter().format(record("ready\nmedia=%s", "x", event="ready", version=2, exc_info=failure()))
    event = json.loads(line)
    assert "\n" not in line
    assert event["event"] == "ready"
    assert event["version"] == 2
    assert event["message"] == "ready\nmedia=x"
    assert "ValueError" in event["exception"]
    assert event["time"].endswith("Z")


def test_text__facts_that_the_message_lacks_follow_it():
    line = TextFormatter().format(record("ready media=%s", "x", event="ready", media="x", worker="w1"))
    assert line.endswith("INFO vernier.media ready media=x worker=w1")


def test_text__nothing_can_forge_a_line():
    lines = TextFormatter().format(record("a\nb", exc_info=failure())).split("\n")
    assert lines[0].endswith("a\\nb")
    assert all(line.startswith("    ") for line in lines[1:])


def test_engine__says_once_a_minute_in_one_line_that_it_has_no_database():
    told, seldom = [], Seldom()
    for second in (0, 1, 59, 60, 61, 125, 10):
        event = record("traceback follows", exc_info=failure(), event="worker_poll_failed")
        event.created = 1_000_000 + second
        if seldom.filter(event):
            told.append((second, TextFormatter().format(event)))
    # The last is that of a clock that went back.
    assert [second for second, _ in told] == [0, 60, 125, 10]
    assert all("No work is done: invalid literal" in line and "\n" not in line for _, line in told)


def test_engine__other_events_are_all_told():
    seldom = Seldom()
    assert all(seldom.filter(record("claimed", event="claimed")) for _ in range(3))


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_logging__settings_are_valid(log_format):
    logging.config.DictConfigurator(logging_settings(log_format=log_format, level="INFO"))
    assert logging_settings(log_format=log_format, level="INFO")["root"]["level"] == "INFO"
