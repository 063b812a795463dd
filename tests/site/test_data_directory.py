import os
import stat

import pytest

from vernier.site.data_directory import make_data_directory, require_writable, secret_key
from vernier.site.exceptions import DataDirectoryError


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_data_directory__is_the_owners_alone(tmp_path):
    make_data_directory(tmp_path / "new" / "data")
    assert mode(tmp_path / "new" / "data") == 0o700
    require_writable(tmp_path / "new" / "data")


def test_data_directory__below_a_file_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DataDirectoryError, match="cannot be used: a part of its path is not a directory"):
        make_data_directory(tmp_path / "file" / "data")


def test_data_directory__database_that_cannot_be_written(tmp_path, monkeypatch):
    make_data_directory(tmp_path)
    (tmp_path / "vernier.db").touch(mode=0o400)
    # Root may write to any file, and tests may run as root.
    monkeypatch.setattr(os, "access", lambda path, _: path.stat().st_mode & stat.S_IWUSR)
    with pytest.raises(DataDirectoryError, match=f"no permission to write there [(]{tmp_path}/vernier.db[)]"):
        require_writable(tmp_path)


def test_secret_key__is_made_once(tmp_path):
    key = secret_key(tmp_path / "data")
    assert len(key) >= 50
    assert secret_key(tmp_path / "data") == key
    assert mode(tmp_path / "data" / "secret-key") == 0o600
    assert [file.name for file in (tmp_path / "data").glob("secret*")] == ["secret-key"]


@pytest.mark.parametrize("content", [b"", b"\n", b"short\n", b"\xff" * 64, b"\0" * 64])
def test_secret_key__damaged_file_is_refused(tmp_path, content):
    (tmp_path / "secret-key").write_bytes(content)
    with pytest.raises(DataDirectoryError, match="remove the file to have a new one made"):
        secret_key(tmp_path)


def test_data_directory__names_the_part_that_is_in_the_way(tmp_path):
    (tmp_path / "staging").touch()
    with pytest.raises(DataDirectoryError, match=f"there is a file of that name [(]{tmp_path}/staging[)][.]$"):
        make_data_directory(tmp_path)
