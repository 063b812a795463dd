import argparse

import pytest

from vernier.cli.arguments import Bind, parse, parse_bind


@pytest.mark.parametrize(
    ("given", "host", "port"),
    [
        ("127.0.0.1:8000", "127.0.0.1", 8000),
        ("[::1]:80", "::1", 80),
        (":9000", "127.0.0.1", 9000),
        ("localhost:0", "localhost", 0),
    ],
)
def test_bind__valid(given, host, port):
    assert parse_bind(given) == Bind(host=host, port=port)


@pytest.mark.parametrize("given", ["", "8000", "host:", "host:port", "host:70000", "host:-1"])
def test_bind__invalid(given):
    with pytest.raises(argparse.ArgumentTypeError, match="valid is HOST:PORT"):
        parse_bind(given)


def test_parse__defaults_of_serve():
    arguments = parse(["serve"])
    assert arguments.bind == Bind(host="127.0.0.1", port=8000)
    assert arguments.workers == 1
    assert arguments.module == "vernier.cli.serve"


def test_parse__everything_behind_manage_is_djangos():
    assert parse(["manage", "migrate", "--plan", "--help"]).arguments == ["migrate", "--plan", "--help"]
