"""One contract for every storage that the pipeline writes to."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage
from django.db import connection

from vernier.media.storages import DatabaseStorage, DurableFileSystemStorage, create, local_path

pytestmark = pytest.mark.django_db(transaction=True)


class ExclusiveInMemoryStorage(InMemoryStorage):
    """A storage as a project may bring it: no directory, and no writer of ours."""

    exclusive_create = True

    def get_available_name(self, name, max_length=None):
        return name

    def _save(self, name, content):
        if self.exists(name):
            raise FileExistsError(name)
        return super()._save(name, content)


@pytest.fixture(params=["directory", "database", "foreign"])
def storage(request, tmp_path):
    if request.param == "directory":
        return DurableFileSystemStorage(location=tmp_path)
    return DatabaseStorage() if request.param == "database" else ExclusiveInMemoryStorage()


def save(storage, name, content):
    return storage.save(name, ContentFile(content))


def read(storage, name):
    with storage.open(name) as stored:
        return stored.read()


def test_save__stores_under_the_very_name(storage):
    assert save(storage, "images/a/v1/photo.avif", b"bytes") == "images/a/v1/photo.avif"
    assert read(storage, "images/a/v1/photo.avif") == b"bytes"


def test_save__refuses_a_taken_name_and_leaves_the_file(storage):
    save(storage, "a/b", b"first")
    with pytest.raises(FileExistsError):
        save(storage, "a/b", b"second")
    assert read(storage, "a/b") == b"first"


def test_save__large_content(storage):
    content = bytes(range(256)) * 5000
    save(storage, "large", content)
    assert read(storage, "large") == content
    assert storage.size("large") == len(content)


def test_open__missing_file_is_named(storage):
    with pytest.raises(FileNotFoundError, match="absent"):
        storage.open("absent")


@pytest.mark.skipif(connection.vendor != "sqlite", reason="Other databases have one type for a column.")
def test_database__content_of_which_the_type_is_damaged_is_read_as_bytes():
    save(DatabaseStorage(), "a/b", b"\xffbytes")
    with connection.cursor() as cursor:
        # One bit in the head of a row makes a text of it.
        cursor.execute("UPDATE media_blob SET content = CAST(content AS TEXT)")
    assert read(DatabaseStorage(), "a/b") == b"\xffbytes"


def test_delete__twice_is_no_error(storage):
    save(storage, "a", b"bytes")
    storage.delete("a")
    storage.delete("a")
    assert not storage.exists("a")


def test_exists__only_after_save(storage):
    assert not storage.exists("a")
    save(storage, "a", b"")
    assert storage.exists("a")


def test_create__appears_when_committed(storage):
    writer = create(storage, "a")
    writer.write(b"one ")
    writer.write(b"two")
    assert not storage.exists("a")
    writer.commit()
    assert read(storage, "a") == b"one two"


def test_create__aborted_leaves_nothing(storage):
    writer = create(storage, "a")
    writer.write(b"half")
    writer.abort()
    writer.abort()
    assert not storage.exists("a")


def test_create__refuses_a_taken_name_at_commit(storage):
    save(storage, "a", b"first")
    writer = create(storage, "a")
    writer.write(b"second")
    with pytest.raises(FileExistsError):
        writer.commit()
    writer.abort()
    assert read(storage, "a") == b"first"


def test_save__one_of_many_at_once_wins(storage):
    outcomes = []

    if isinstance(storage, ExclusiveInMemoryStorage):
        pytest.skip("Django's in-memory storage is not made for several threads.")

    def attempt(number):
        try:
            save(storage, "contested", str(number).encode())
            outcomes.append(number)
        except FileExistsError:
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=attempt, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [str(number).encode() for number in outcomes] == [read(storage, "contested")]


def test_local_path__reads_the_same_bytes(storage):
    save(storage, "a", b"bytes")
    with local_path(storage, "a") as path:
        assert Path(path).read_bytes() == b"bytes"


def test_directory__holds_no_other_file_when_a_write_ended(tmp_path):
    storage = DurableFileSystemStorage(location=tmp_path)
    save(storage, "a", b"first")
    with pytest.raises(FileExistsError):
        save(storage, "a", b"second")
    create(storage, "b").abort()
    assert [path.name for path in tmp_path.rglob("*")] == ["a"]


def test_directory__name_may_not_leave_it(tmp_path):
    storage = DurableFileSystemStorage(location=tmp_path / "in")
    with pytest.raises(Exception, match="path"):
        save(storage, "../out", b"bytes")
    assert not (tmp_path / "out").exists()


def test_directory__short_writes_are_completed(tmp_path):
    writer = DurableFileSystemStorage(location=tmp_path).create("a")
    whole = writer._file

    class Short:
        def write(self, view):
            return whole.write(view[:3])

        def __getattr__(self, name):
            return getattr(whole, name)

    writer._file = Short()
    writer.write(b"0123456789")
    writer.commit()
    assert (tmp_path / "a").read_bytes() == b"0123456789"
