"""Take from a process what decoding an image does not need. Linux only."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
# linux/prctl.h
_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
# linux/capability.h: the third version, with two sets of 32 capabilities, each of three words.
_CAPABILITY_VERSION = 0x20080522
_CAPABILITY_WORDS = 6
# The numbers of two capabilities: reading whatever file is named, and taking any priority.
CAP_DAC_READ_SEARCH = 2
CAP_SYS_NICE = 23

# The lowest priority: pages stay quick while images drain.
_NICE = 19
# The first to go when the machine runs out of memory, not the database and not the worker.
_OOM_SCORE = b"1000"
# Standard streams, the channel and the original, with some to spare for the libraries.
_OPEN_FILES_MAX = 16
_NOT_FOR_US = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def settle() -> None:
    """Prepare the process that forks the children, which inherit all of this: no network, no privileges to gain.

    Signals for the worker's process group or unit are ignored: the worker decides when its children end.
    """
    for number in _NOT_FOR_US:
        signal.signal(number, signal.SIG_IGN)
    _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # Before the process moves to a user namespace, where it may not write this any more.
    _offer_to_oom_killer()
    _leave_network()
    os.nice(_NICE)
    # Of root's all but one: the original may be another user's file. Where it can, the encoder SVT-AV1 makes itself a
    # real-time process, for which everything else on the machine waits.
    drop_capabilities(keep=1 << CAP_DAC_READ_SEARCH)


def drop_capabilities(*, keep: int) -> None:
    """Give up what capabilities the process has that are not in `keep`, a set of bits (capabilities(7))."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * _CAPABILITY_WORDS)()
    _LIBC.capget(header, sets)
    for number in range(_CAPABILITY_WORDS):
        # Effective, permitted and inheritable of the lower 32, then of the higher ones.
        sets[number] &= keep >> 32 * (number // 3) & 0xFFFFFFFF
    _LIBC.capset(header, sets)


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent, of which this is the process id, has ended."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        raise SystemExit("The parent ended before its child could be bound to it.")


def confine(*, memory_bytes: int, cpu_seconds: int) -> None:
    """Limit a child before it reads anything hostile."""
    # The soft limit of CPU time ends the process with SIGXCPU, the hard one with SIGKILL a second later.
    _limit(resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1)
    for limit, value in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES_MAX),
        (resource.RLIMIT_CORE, 0),
    ):
        _limit(limit, value, value)


def _limit(limit: int, soft: int, hard: int) -> None:
    """Set the limit, or leave the one that is in force where that is lower: it cannot be raised."""
    _, highest = resource.getrlimit(limit)
    if highest != resource.RLIM_INFINITY:
        soft, hard = min(soft, highest), min(hard, highest)
    resource.setrlimit(limit, (soft, hard))


def _offer_to_oom_killer() -> None:
    try:
        Path("/proc/self/oom_score_adj").write_bytes(_OOM_SCORE)
    except OSError:
        return


def _leave_network() -> None:
    """Move to a network of its own, without even a loopback; some kernels and containers refuse it, then stay."""
    try:
        if os.geteuid() == 0:
            os.unshare(os.CLONE_NEWNET)
        else:
            os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNET)
            # What the new user namespace grants within itself widens what of the kernel can be reached.
            drop_capabilities(keep=0)
    except OSError:
        return
