import os

from vernier.engines.heartbeat import heartbeat_file, remove_stale_heartbeats, youngest_heartbeat_seconds


def beat(directory, name, at):
    file = directory / f"worker-{name}.heartbeat"
    file.touch()
    os.utime(file, (at, at))
    return file


def test_heartbeat__none_yet(tmp_path):
    assert youngest_heartbeat_seconds(tmp_path) is None
    assert youngest_heartbeat_seconds(tmp_path / "missing") is None


def test_heartbeat__the_youngest_counts(tmp_path):
    beat(tmp_path, "1", 900)
    beat(tmp_path, "2", 970)
    assert youngest_heartbeat_seconds(tmp_path, now=1000) == 30


def test_heartbeat__a_clock_that_went_back(tmp_path):
    beat(tmp_path, "1", 2000)
    assert youngest_heartbeat_seconds(tmp_path, now=1000) == 0


def test_heartbeat__file_is_this_processs_own(tmp_path):
    assert str(os.getpid()) in heartbeat_file(tmp_path).name


def test_heartbeat__files_of_the_long_gone_are_removed(tmp_path):
    old, young = beat(tmp_path, "1", 100), beat(tmp_path, "2", 950)
    remove_stale_heartbeats(tmp_path, older_than_seconds=500, now=1000)
    assert not old.exists()
    assert young.exists()
