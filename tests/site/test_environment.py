import pytest

from vernier.site.environment import read_environment
from vernier.site.exceptions import SettingError
from vernier.site.options import OPTIONS


def read(tmp_path, **given):
    return read_environment(
        {"VERNIER_DATA_DIR": str(tmp_path)} | {f"VERNIER_{name}": value for name, value in given.items()}
    )


def test_environment__every_option_has_a_value_and_a_description(tmp_path):
    values = read(tmp_path).values
    assert set(values) == {option.name for option in OPTIONS}
    assert all(option.help.endswith(".") and option.kind.valid for option in OPTIONS)


def test_environment__defaults(tmp_path):
    environment = read(tmp_path)
    assert environment["UPLOAD_MAX_BYTES"] == 20 * 1024 * 1024
    assert environment["UPLOAD_TYPES"] == ("jpeg", "png", "webp")
    assert environment["BASE_URL"] == "http://127.0.0.1:8000"
    assert environment.warnings == ()


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("LEASE_SECONDS", "5", 5),
        ("BACKOFF_SECONDS", "0.5", 0.5),
        ("UPLOAD_TYPES", "PNG, gif,png", ("png", "gif")),
        ("KEEP_ORIGINALS", "Yes", True),
        ("MEDIA_COMPATIBLE", "0", False),
        ("BASE_URL", "https://Example.org/", "https://example.org"),
        ("BASE_URL", "http://[::1]:8000", "http://[::1]:8000"),
        ("LOG_LEVEL", "debug", "DEBUG"),
        ("TIME_ZONE", "Europe/Berlin", "Europe/Berlin"),
        ("MAX_ATTEMPTS", "", 8),
    ],
)
def test_environment__valid_value(tmp_path, name, given, value):
    assert read(tmp_path, **{name: given})[name] == value


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("LEASE_SECONDS", "abc"),
        ("LEASE_SECONDS", "4"),
        ("LEASE_SECONDS", "1.5"),
        ("BACKOFF_SECONDS", "nan"),
        ("UPLOAD_TYPES", "jpeg,svg"),
        ("UPLOAD_TYPES", ","),
        ("KEEP_ORIGINALS", "maybe"),
        ("BASE_URL", "example.org"),
        ("BASE_URL", "https://example.org/blog"),
        ("BASE_URL", "https://user@example.org"),
        ("BASE_URL", "https://example.org:99999"),
        ("BASE_URL", "http://[::1"),
        ("BASE_URL", "https://exam ple.org"),
        ("BASE_URL", "https://münchen.example"),
        ("SITE_TITLE", "\udcff"),
        ("PHOTO_HOSTS", "\udcff"),
        ("LOG_FORMAT", "xml"),
        ("TIME_ZONE", "Mars/Olympus"),
        ("TIME_ZONE", "../../etc/passwd"),
        ("SECRET_KEY", "short"),
    ],
)
def test_environment__bad_value_is_one_sentence(tmp_path, name, given):
    with pytest.raises(SettingError, match=f"^VERNIER_{name} is .*; valid is .*[.]$"):
        read(tmp_path, **{name: given})


def test_environment__sentence_says_what_is_valid(tmp_path):
    with pytest.raises(SettingError) as caught:
        read(tmp_path, LEASE_SECONDS="abc")
    assert str(caught.value) == "VERNIER_LEASE_SECONDS is 'abc'; valid is a whole number from 5 to 3600."


@pytest.mark.parametrize(
    ("name", "given"), [("SECRET_KEY", "hunter2"), ("EMAIL_URL", "smtp://site:hunter2@mail.example.org:99999")]
)
def test_environment__secret_is_not_shown(tmp_path, name, given):
    with pytest.raises(SettingError, match=f"^VERNIER_{name} is not valid") as caught:
        read(tmp_path, **{name: given})
    assert "hunter2" not in str(caught.value)


def test_environment__unknown_name_is_reported_with_the_closest(tmp_path):
    warnings = read(tmp_path, LEASE_SECOND="5", QUITE_ELSE="1").warnings
    assert warnings == (
        "VERNIER_LEASE_SECOND is not a setting of Vernier and is ignored; did you mean VERNIER_LEASE_SECONDS?",
        "VERNIER_QUITE_ELSE is not a setting of Vernier and is ignored.",
    )


def test_environment__dotenv_in_the_data_directory_is_read(tmp_path):
    (tmp_path / ".env").write_text("VERNIER_MAX_ATTEMPTS=3\nVERNIER_TIME_ZONE='Asia/Tokyo'\nOTHER=1\n")
    environment = read(tmp_path, TIME_ZONE="UTC")
    assert environment["MAX_ATTEMPTS"] == 3
    assert environment["TIME_ZONE"] == "UTC"
    assert environment.warnings == ()


def test_environment__dotenv_that_is_no_text_is_refused(tmp_path):
    (tmp_path / ".env").write_bytes(b"VERNIER_TIME_ZONE=\xff\xfe\n")
    with pytest.raises(SettingError, match="cannot be read"):
        read(tmp_path)


@pytest.mark.parametrize(
    "line",
    ["export", "VERNIER_TIME_ZONE", "VERNIER TIME_ZONE=UTC", 'VERNIER_TIME_ZONE="UTC', "VERNIER_TIME_ZONE='a'b"],
)
def test_environment__line_of_dotenv_that_sets_nothing_is_refused(tmp_path, line):
    (tmp_path / ".env").write_text(f"# Ours\nVERNIER_MAX_ATTEMPTS=3\n\n{line}\nVERNIER_LOG_FORMAT=json\n")
    with pytest.raises(SettingError, match=r"^Line 4 of .*/\.env is no setting; valid is NAME=VALUE\.$"):
        read(tmp_path)


def test_environment__dotenv_that_is_a_directory_is_refused(tmp_path):
    (tmp_path / ".env").mkdir()
    with pytest.raises(SettingError, match="cannot be read"):
        read(tmp_path)


def test_environment__data_directory_in_dotenv_is_reported(tmp_path):
    (tmp_path / ".env").write_text("VERNIER_DATA_DIR=/elsewhere\n")
    environment = read(tmp_path)
    assert environment["DATA_DIR"] == tmp_path
    assert environment.warnings == (
        f"VERNIER_DATA_DIR in {tmp_path / '.env'} is ignored: set it in the environment.",
    )


@pytest.mark.parametrize("given", ["~no-such-user/data", "\udcff"])
def test_environment__data_directory_that_cannot_be(given):
    with pytest.raises(SettingError, match="^VERNIER_DATA_DIR is .*; valid is the path of a directory[.]$"):
        read_environment({"VERNIER_DATA_DIR": given})


def test_environment__data_directory_is_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read_environment({})["DATA_DIR"] == tmp_path / "vernier-data"


def test_environment__base_url_is_the_running_servers_unless_set(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "address").write_text("http://127.0.0.1:9000\n")
    assert read(tmp_path)["BASE_URL"] == "http://127.0.0.1:9000"
    assert read(tmp_path, BASE_URL="https://example.org")["BASE_URL"] == "https://example.org"


@pytest.mark.parametrize("left", ["", "nonsense", "http://[::1", "http://127.0.0.1:99999", "\0"])
def test_environment__damaged_address_of_a_server_is_none(tmp_path, left):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "address").write_text(left)
    assert read(tmp_path)["BASE_URL"] == "http://127.0.0.1:8000"
