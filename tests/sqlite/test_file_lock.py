import subprocess
import sys

from vernier.sqlite.file_lock import FileLock

HOLD = """
import sys, pathlib
from vernier.sqlite.file_lock import FileLock
with FileLock(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_file_lock__excludes_another_holder(tmp_path):
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert first.try_acquire()
    assert first.try_acquire()
    assert not second.try_acquire()
    first.release()
    assert second.try_acquire()


def test_file_lock__a_killed_holder_lets_go(tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path / "lock"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout.readline() == b"held\n"
    assert not FileLock(tmp_path / "lock").try_acquire()
    holder.kill()
    holder.communicate()
    assert FileLock(tmp_path / "lock").try_acquire()
