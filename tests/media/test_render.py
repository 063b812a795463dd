"""Rendering in a child process: the same bytes each time, and nothing of the child remains."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from PIL import Image

from tests.media.processes import children, failure_of, served_by, server_process, start, wait_until_gone
from tests.media.render_in_process import open_renderer_in_process
from tests.media.rendering import CORPUS, SETTINGS, photo, render_set, variant
from vernier.media.child import client
from vernier.media.conf import MIB, MediaSettings
from vernier.media.exceptions import PermanentError, TransientError
from vernier.media.failures import FailureCode
from vernier.media.render import open_renderer
from vernier.media.variants import DEFAULT_VARIANTS

# Encoder settings that save the tests time.
FAST = {"webp": {"lossless": True, "quality": 0, "method": 0}, "avif": {"speed": 10}, "png": {"compress_level": 1}}
# SVT-AV1 has a thread for each of its 16 stages, which mostly wait for each other, whatever the number of cores.
THREADS_MAX = 20
PLAIN = CORPUS / "orient_6.jpg"
ROOT = Path(__file__).parents[2]


def test_fork_server__without_room_for_a_child():
    with served_by("tests.media.refusing_server"):
        error = failure_of("any")
    assert (error.code, error.tries_max) == (FailureCode.OUT_OF_MEMORY, None)


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.ENOMEM, errno.EMFILE])
def test_fork_server__cannot_be_started(monkeypatch, number):
    client.stop()
    open_files = psutil.Process().num_fds()
    monkeypatch.setattr(subprocess, "Popen", _raiser(OSError(number, os.strerror(number))))
    error = failure_of("any")
    assert (error.code, error.tries_max) == (FailureCode.OUT_OF_MEMORY, None)
    assert psutil.Process().num_fds() == open_files


def test_many_jobs__leave_no_process_and_no_open_file():
    _use(PLAIN)
    processes = [psutil.Process(), server_process()]
    before = [process.num_fds() for process in processes]
    for _ in range(30):
        _use(PLAIN)
    # The fork server closes the last descriptor just after it has told the end of the child.
    assert all(process.num_fds() <= count + 1 for process, count in zip(processes, before, strict=True))
    assert children() == []


def test_j10__renditions_are_encoded_one_after_another_with_few_threads(tmp_path):
    """One child for each worker, and in it no pool of threads as large as the machine."""
    path, threads, numbers = tmp_path / "noise.png", [], set()
    Image.effect_noise((1200, 1200), 90).save(path)

    def look():
        running = children()
        numbers.add(len(running))
        threads.extend(child.num_threads() for child in running)

    with open_renderer(
        str(path), image_type="png", variants=DEFAULT_VARIANTS, settings=SETTINGS, on_tick=look
    ) as renderer:
        for recipe in DEFAULT_VARIANTS[:2]:
            renderer.render(recipe)
            look()
    assert max(numbers) == 1
    assert max(threads) <= THREADS_MAX


def test_encoder__gets_no_real_time_priority(tmp_path):
    """SVT-AV1 takes it where it may, and everything else on the machine would wait."""
    path, policies = tmp_path / "noise.png", set()
    Image.effect_noise((400, 300), 90).save(path)

    def look():
        threads = (thread.id for child in children() for thread in child.threads())
        policies.update(os.sched_getscheduler(thread) for thread in threads)

    with open_renderer(
        str(path), image_type="png", variants=DEFAULT_VARIANTS, settings=SETTINGS, on_tick=look
    ) as renderer:
        renderer.render(DEFAULT_VARIANTS[0])
        look()
    assert policies == {os.SCHED_OTHER}


def test_many_jobs__at_once():
    with ThreadPoolExecutor(4) as threads:
        assert {measured.size.height for measured in threads.map(_use, [PLAIN] * 12)} == {80}
    assert children() == []


def test_killed_worker__leaves_no_child():
    worker, pids = _doomed_worker()
    worker.kill()
    worker.wait()
    wait_until_gone(pids)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_to_the_process_group__is_for_the_worker(number):
    worker, pids = _doomed_worker()
    for pid in pids:
        os.kill(pid, number)
    time.sleep(0.1)
    assert all(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in pids)
    worker.kill()
    worker.wait()


@pytest.mark.parametrize("file", ["jpeg_444.jpg", "png_rgba.png", "anim.gif", "icc_p3.avif"])
def test_renditions__are_the_same_bytes_each_time_and_without_a_child(file):
    first, again = render_set(CORPUS / file), render_set(CORPUS / file)
    assert first == again == render_set(CORPUS / file, opener=open_renderer_in_process)


def test_renditions__of_a_photo_within_memory():
    settings = MediaSettings(render_memory_bytes=512 * MIB)
    assert len(render_set(photo("cat12.jpg"), settings=settings).renditions) == 5


@pytest.mark.parametrize("image_type", ["jpeg", "png", "webp", "gif", "avif"])
def test_memory__too_little_is_never_taken_for_a_damaged_image(image_type, tmp_path):
    path = tmp_path / f"large.{image_type}"
    Image.linear_gradient("L").resize((2500, 2500)).convert("RGB").save(path, **FAST.get(image_type, {}))
    variants = (variant("jpeg", width_max=400),)
    for memory_mib in range(60, 260, 6):
        settings = MediaSettings(render_memory_bytes=memory_mib * MIB)
        with suppress(TransientError):
            render_set(path, variants=variants, settings=settings)
            break
    assert memory_mib > 100


def test_verify__needs_no_original():
    rendered = render_set(PLAIN).renditions["photo"]
    with start("/nowhere") as renderer:
        assert renderer.verify(rendered.data).format == "avif"
        with pytest.raises(TransientError):
            renderer.verify(b"\0" * 100)
        with pytest.raises(TransientError):
            renderer.measure()
        assert renderer.verify(rendered.data).size == rendered.size


def test_heic__is_refused_with_its_name():
    with pytest.raises(PermanentError) as caught:
        render_set(CORPUS / "heic_8bit.heic")
    assert caught.value.code == FailureCode.UNSUPPORTED_TYPE
    assert "heic" in caught.value.detail


def test_codecs__are_not_loaded_into_the_worker():
    code = "import vernier.media.render, sys; print({'PIL', 'pyvips', 'pillow_avif'} & set(sys.modules))"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout == "set()\n"
    )


def _use(path):
    with start(path) as renderer:
        return renderer.measure()


def _raiser(error):
    def raise_it(*args, **kwargs):
        raise error

    return raise_it


def _doomed_worker() -> tuple[subprocess.Popen, list[int]]:
    worker = subprocess.Popen([sys.executable, "-m", "tests.media.doomed_worker"], stdout=subprocess.PIPE, cwd=ROOT)
    return worker, json.loads(worker.stdout.readline())
