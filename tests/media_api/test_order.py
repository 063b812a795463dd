"""The order in which an acknowledged upload became durable, as the kernel saw it."""

import re
import shutil

import pytest

PATTERNS = [
    ("the bytes", r"write\(\d+<[^>]*/staging/[^>]*\.part>"),
    ("their fsync", r"fsync\(\d+<[^>]*/staging/[^>]*\.part>"),
    ("the name", r"link(at)?\(.*/staging/"),
    ("the fsync of the directory", r"fsync\(\d+<[^>]*/staging>"),
    ("the commit", r"(pwrite64|write)\(\d+<[^>]*site\.db-wal>"),
    ("its fsync", r"(fdatasync|fsync)\(\d+<[^>]*site\.db-wal>"),
    ("the answer", r"(write|writev|sendto|sendmsg)\(\d+<.*HTTP/1\.1 201"),
]


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_order__is_bytes_fsync_name_fsync_commit_answer(start_site, tmp_path, jpeg):
    trace = tmp_path / "trace"
    calls = "trace=write,writev,pwrite64,sendto,sendmsg,fsync,fdatasync,link,linkat"
    site = start_site(prefix=("strace", "-f", "-y", "-s", "64", "-e", calls, "-o", str(trace)))
    assert site.upload(jpeg).status_code == 201
    site.stop_traced()
    lines = trace.read_text().splitlines()
    answer = last(lines, PATTERNS[-1][1])
    places = [last(lines[: answer + 1], pattern) for _, pattern in PATTERNS]
    assert places == sorted(places), list(zip(PATTERNS, places, strict=True))


def last(lines, pattern):
    """Return the number of the last line with this call."""
    found = [number for number, line in enumerate(lines) if re.search(pattern, line)]
    assert found, f"{pattern} is nowhere in:\n" + "\n".join(lines[-60:])
    return found[-1]
