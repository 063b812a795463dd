import argparse
from pathlib import Path

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


@pytest.mark.parametrize("given", ["-1", "x", "999999", "99999999999999999999"])
def test_web__descriptor_that_is_no_socket_is_refused(given, capsys):
    with pytest.raises(SystemExit) as caught:
        parse(["web", "--fd", given])
    assert caught.value.code == 2
    assert f"{given!r} is not the number of an open socket" in capsys.readouterr().err


@pytest.mark.parametrize(
    "given",
    [
        ["author", "link", "\udcff"],
        ["author", "create", "\udcff"],
        ["token", "create", "--scope", "media", "--author", "\udcff"],
        ["media", "upload", "photo.jpg", "--author", "\udcff"],
        ["backup", "\udcff"],
        ["restore", "\udcff"],
    ],
)
def test_parse__bytes_that_are_no_text_are_refused(given, capsys):
    with pytest.raises(SystemExit) as caught:
        parse(given)
    assert caught.value.code == 2
    assert "valid is UTF-8" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_parse__empty_name_of_a_file_is_refused(command, capsys):
    with pytest.raises(SystemExit):
        parse([command, ""])
    assert "valid is a path" in capsys.readouterr().err


def test_parse__uploads_take_files_of_any_name():
    assert parse(["media", "upload", "\udcff", "--author", "alice"]).files == [Path("\udcff")]


def test_parse__everything_behind_manage_is_djangos():
    assert parse(["manage", "migrate", "--plan", "--help"]).arguments == ["migrate", "--plan", "--help"]
