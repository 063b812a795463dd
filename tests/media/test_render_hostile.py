"""A child in the hands of an attacker: it ends in time, with a reason, and has reached nothing."""

import json
import os
import time

import pytest

from tests.media.processes import PATIENCE_SECONDS, children, failure_of, served_by, server_process, start
from tests.media.rendering import SETTINGS
from vernier.media.conf import MIB, MediaSettings
from vernier.media.exceptions import HandedBack, LeaseLost, TransientError
from vernier.media.failures import FailureCode

# Quick limits for children that use them up.
SHORT = MediaSettings(render_wall_seconds=0.6, render_cpu_seconds=1)


@pytest.fixture(scope="module", autouse=True)
def _hostile():
    with pytest.MonkeyPatch.context() as monkeypatch, served_by("tests.media.hostile_server"):
        monkeypatch.setenv("VERNIER_SECRET_KEY", "secret")
        yield


@pytest.mark.parametrize(
    ("behaviour", "code", "tries_max"),
    [
        ("segfault", FailureCode.DECODER_CRASHED, 2),
        ("abort", FailureCode.DECODER_CRASHED, 2),
        ("leave", FailureCode.DECODER_CRASHED, 2),
        ("killed", FailureCode.OUT_OF_MEMORY, 3),
        ("hang", FailureCode.TIME_LIMIT, 2),
        ("half", FailureCode.TIME_LIMIT, 2),
        ("pickled", FailureCode.DECODER_CRASHED, 2),
        ("raw", FailureCode.DECODER_CRASHED, 2),
        ("nested", FailureCode.DECODER_CRASHED, 2),
        ("odd", FailureCode.DECODER_CRASHED, 2),
        ("painted", FailureCode.DECODER_CRASHED, 2),
        ("unknown_code", FailureCode.DECODER_CRASHED, 2),
        ("endless", FailureCode.DECODER_CRASHED, 2),
    ],
)
def test_hostile_child__gives_a_transient_reason(behaviour, code, tries_max):
    error = failure_of(behaviour, settings=SHORT if code is FailureCode.TIME_LIMIT else SETTINGS)
    assert isinstance(error, TransientError)
    assert (error.code, error.tries_max) == (code, tries_max)
    assert children() == []


def test_hostile_child__burning_cpu_ends_at_its_limit():
    error = failure_of("burn", settings=MediaSettings(render_cpu_seconds=1))
    assert (error.code, error.detail) == (FailureCode.TIME_LIMIT, "CPU time spent")


def test_j5__child_that_does_not_listen_ends_at_the_time_limit():
    error = failure_of("deaf", settings=SHORT, ask=lambda renderer: renderer.verify(bytes(5 * MIB)))
    assert error.code == FailureCode.TIME_LIMIT


def test_j7__child_cannot_hoard_memory():
    told = json.loads(failure_of("grow", settings=MediaSettings(render_memory_bytes=512 * MIB)).detail)
    assert 1 <= told["hoarded"] <= 7


def test_j9__child_has_no_temporary_file_because_it_cannot_write_any(tmp_path):
    assert json.loads(failure_of(tmp_path / "write").detail) == {"refused": "EFBIG"}
    assert (tmp_path / "grown").stat().st_size == 0


def test_child__reaches_nothing_that_it_does_not_need():
    told = json.loads(failure_of("look").detail)
    # The standard streams, the channel, and the listing of them itself.
    assert len(told["files"]) == 5
    assert told["interfaces"] in ([], ["lo"]) or os.geteuid() != 0
    assert "VERNIER_SECRET_KEY" not in told["environment"]
    assert (told["no_new_privs"], told["nice"], told["oom_score"], told["threads"]) == (1, 19, 1000, 1)
    assert told["core"] == [0, 0]
    assert told["cpu"] == [SETTINGS.render_cpu_seconds, SETTINGS.render_cpu_seconds + 1]
    assert told["memory"] == [SETTINGS.render_memory_bytes] * 2


@pytest.mark.parametrize("raised", [LeaseLost, HandedBack, KeyboardInterrupt])
def test_on_tick__ends_the_wait_at_once(raised):
    ticks = []

    def tick():
        ticks.append(time.monotonic())
        if len(ticks) == 3:
            raise raised

    with pytest.raises(raised), start("hang", on_tick=tick) as renderer:
        renderer.measure()
    assert 0.2 < ticks[2] - ticks[1] < PATIENCE_SECONDS
    assert children() == []


def test_on_tick__wins_over_the_end_of_a_child():
    ends = []

    def tick():
        if ends:
            raise HandedBack
        ends.extend(child.kill() for child in children())

    with pytest.raises(HandedBack), start("hang", on_tick=tick) as renderer:
        renderer.measure()


def test_fork_server__killed_is_transient_and_started_again():
    with pytest.raises(TransientError) as caught, start("hang", on_tick=lambda: server_process().kill()) as renderer:
        renderer.measure()
    assert (caught.value.code, caught.value.tries_max) == (FailureCode.OUT_OF_MEMORY, None)
    assert failure_of("leave").code == FailureCode.DECODER_CRASHED
