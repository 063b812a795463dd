import pytest
from django.db import connection

from vernier.sqlite import checks


@pytest.fixture
def found():
    """Return the ids of what the checks find on a new connection with changed options."""

    def found(monkeypatch, **options):
        monkeypatch.setitem(connection.settings_dict, "OPTIONS", connection.settings_dict["OPTIONS"] | options)
        connection.close()
        messages = checks.check_sqlite(None, databases=["default"])
        connection.close()
        return {message.id for message in messages} - {checks.W_LIBRARY}

    return found


pytestmark = pytest.mark.django_db(transaction=True)


def test_checks__real_settings_are_right(found, monkeypatch):
    assert found(monkeypatch) == set()


@pytest.mark.parametrize(
    ("command", "check_id"),
    [
        ("PRAGMA synchronous=NORMAL", checks.E_SYNCHRONOUS),
        ("PRAGMA wal_autocheckpoint=1000", checks.E_AUTOCHECKPOINT),
    ],
)
def test_checks__pragma(found, monkeypatch, command, check_id):
    real = connection.settings_dict["OPTIONS"]["init_command"]
    assert found(monkeypatch, init_command=f"{real};{command}") == {check_id}


def test_checks__transaction_mode(found, monkeypatch):
    assert found(monkeypatch, transaction_mode="DEFERRED") == {checks.E_TRANSACTION_MODE}


def test_checks__timeout(found, monkeypatch):
    assert found(monkeypatch, timeout=1) == {checks.E_TIMEOUT}


def test_checks__a_plain_database(found, monkeypatch, tmp_path):
    monkeypatch.setitem(connection.settings_dict, "NAME", str(tmp_path / "plain.db"))
    assert found(monkeypatch, init_command="", transaction_mode=None, timeout=5) == {
        checks.E_JOURNAL,
        checks.E_PAGE_SIZE,
        checks.E_TRANSACTION_MODE,
        checks.E_AUTOCHECKPOINT,
    }


def test_checks__only_what_is_asked_about():
    assert checks.check_sqlite(None, databases=None) == []


@pytest.mark.parametrize(
    ("version", "is_warned_of"),
    [
        ((3, 40, 1), True),
        ((3, 44, 5), True),
        ((3, 44, 6), False),
        ((3, 45, 0), True),
        ((3, 50, 6), True),
        ((3, 50, 7), False),
        ((3, 51, 2), True),
        ((3, 51, 3), False),
        ((3, 53, 0), False),
    ],
)
def test_checks__library(version, is_warned_of):
    assert bool(list(checks.check_library(version))) is is_warned_of
