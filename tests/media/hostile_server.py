"""A fork server whose children do what the file name of their original says, under the limits of real ones."""

import ctypes
import errno
import json
import os
import resource
import signal
import socket
import sys
import time
from pathlib import Path

from vernier.media.child import limits, server
from vernier.media.child.answer import _receive
from vernier.media.child.protocol import LENGTHS, Job, pack


def misbehave(channel: socket.socket) -> None:
    stream = channel.makefile("rb")
    header, _ = _receive(stream)
    job = Job.from_json(header)
    limits.confine(memory_bytes=job.memory_bytes, cpu_seconds=job.cpu_seconds)
    behaviour = Path(job.path).name
    if behaviour == "deaf":
        time.sleep(1000)
    _receive(stream)
    globals()[behaviour](channel, job)


def segfault(channel, job):
    ctypes.string_at(0)


def abort(channel, job):
    os.abort()


def leave(channel, job):
    os._exit(7)


def killed(channel, job):
    os.kill(os.getpid(), signal.SIGKILL)


def hang(channel, job):
    time.sleep(1000)


def half(channel, job):
    channel.sendall(pack({"size": [1, 1], "has_alpha": False, "placeholder": "#ffffff"})[:-3])
    time.sleep(1000)


def burn(channel, job):
    while True:
        pass


def grow(channel, job):
    hoard = []
    try:
        while True:
            hoard.append(bytearray(64 * 1024 * 1024))
    except MemoryError:
        report(channel, {"hoarded": len(hoard)})


def write(channel, job):
    """Try to write one byte into a new file."""
    try:
        with Path(job.path).with_name("grown").open("wb", buffering=0) as file:
            file.write(b"x")
    except OSError as error:
        report(channel, {"refused": errno.errorcode[error.errno]})


def pickled(channel, job):
    channel.sendall(b"\x80\x04cos\nsystem\n")
    channel.close()


def raw(channel, job):
    channel.sendall(LENGTHS.pack(9, 0) + b"not json!")
    time.sleep(1000)


def nested(channel, job):
    channel.sendall(LENGTHS.pack(60_000, 0) + b"[" * 60_000)
    time.sleep(1000)


def odd(channel, job):
    channel.sendall(pack({"size": [1, -1], "has_alpha": "yes", "placeholder": "#ffffff"}))
    time.sleep(1000)


def painted(channel, job):
    channel.sendall(pack({"size": [1, 1], "has_alpha": False, "placeholder": "#fff}<s>"}))
    time.sleep(1000)


def unknown_code(channel, job):
    channel.sendall(pack({"failed": "permanent", "code": "made-up", "detail": "", "tries_max": None}))
    time.sleep(1000)


def endless(channel, job):
    channel.sendall(LENGTHS.pack(10, 2**32 - 1) + b"{}" * 1000)
    time.sleep(1000)


def look(channel, job):
    """Tell what this child can reach."""
    status = dict(
        line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line
    )
    report(
        channel,
        {
            "files": sorted(int(entry.name) for entry in Path("/proc/self/fd").iterdir()),
            "interfaces": [line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]],
            "environment": sorted(os.environ),
            "no_new_privs": int(status["NoNewPrivs"]),
            "threads": int(status["Threads"]),
            "nice": os.nice(0),
            "core": resource.getrlimit(resource.RLIMIT_CORE),
            "cpu": resource.getrlimit(resource.RLIMIT_CPU),
            "memory": resource.getrlimit(resource.RLIMIT_AS),
            "oom_score": int(Path("/proc/self/oom_score_adj").read_text()),
            "django_settings": "django.conf" in sys.modules,
        },
    )


def report(channel, seen):
    """Answer as a real child does when it fails, with what was seen as the detail."""
    channel.sendall(
        pack({"failed": "permanent", "code": "undecodable", "detail": json.dumps(seen), "tries_max": None})
    )


if __name__ == "__main__":
    server.answer_all = misbehave
    server.main()
