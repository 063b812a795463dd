"""A real browser against a real server; both live until the end of the run."""

from __future__ import annotations

import io
import re
import shutil
import sqlite3
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import expect, sync_playwright

from tests.processes.server import Server

CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Pages wait for each other's work on a slow machine; what comes about is seen at once.
TIMEOUT_MS = 15_000
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
SCREENSHOTS = Path(__file__).parent / "screenshots"
_LINK = re.compile(r"https?://\S+/sign-in/\S+")


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A server with an author, whose one-time link for signing in is its `link`."""
    if CHROMIUM is None:
        pytest.skip("This needs chromium; scripts/test-tools.sh installs it.")
    server = Server(tmp_path_factory.mktemp("browser") / "data", log_level="WARNING")
    server.link = _LINK.search(server.command("author", "create", "alice", "--email", "alice@example.org"))[0]
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="package")
def browser(server):
    """Chromium until the last test here: while it runs, its event loop keeps Django from the database."""
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def session(browser, server):
    """What a browser remembers of an author who has signed in."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.link)
    page.locator("main button").first.click()
    page.wait_for_url(lambda url: "/sign-in/" not in url)
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture
def open_page(browser, server, session):
    """Open pages that are signed in; at the end no script may have failed and no rule have been broken."""
    contexts, complaints = [], []

    def open_one(path="/editor/new", *, is_signed_in=True, **options):
        context = browser.new_context(
            base_url=server.url,
            storage_state=session if is_signed_in else None,
            **{"viewport": DESKTOP, **options},
        )
        contexts.append(context)
        context.set_default_timeout(TIMEOUT_MS)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: _note(message, complaints))
        # Asked for only when a test waits for a file chooser, Playwright's may come after Chromium's own has opened.
        page.on("filechooser", lambda _chooser: None)
        page.goto(path)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def page(open_page):
    return open_page()


@pytest.fixture
def worker_stopped(server):
    """Return a context in which nothing is processed."""

    @contextmanager
    def stopped():
        (worker,) = server.children("worker")
        suspend(worker, server)
        try:
            yield
        finally:
            worker.resume()

    return stopped


def suspend(worker, server):
    """Stop the worker where it does not hold the database, for which everybody would wait."""
    with closing(sqlite3.connect(server.data_directory / "vernier.db", timeout=0, isolation_level=None)) as database:
        while True:
            worker.suspend()
            try:
                database.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                worker.resume()
                time.sleep(0.05)
            else:
                database.execute("ROLLBACK")
                return


@pytest.fixture(scope="session")
def photo_files(tmp_path_factory):
    """Files as an author has them on disk."""
    directory = tmp_path_factory.mktemp("photos")
    colours = {"lake": ("#274a63", "#dfb886"), "field": ("#5d6d2d", "#f0dca8"), "night": ("#14122b", "#5a4a83")}
    for name, (below, above) in colours.items():
        (directory / f"{name}.jpg").write_bytes(picture(below, above))
    corpus = Path(__file__).parent.parent / "corpus"
    shutil.copy(corpus / "jpeg_truncated_tail.jpg", directory / "broken.jpg")
    shutil.copy(corpus / "not_text.jpg", directory / "text.jpg")
    return directory


def picture(below, above):
    """Return a small landscape as a JPEG."""
    image = Image.new("RGB", (800, 600), above)
    draw = ImageDraw.Draw(image)
    draw.polygon([(0, 240), (270, 130), (530, 230), (800, 110), (800, 600), (0, 600)], below)
    draw.ellipse((545, 60, 640, 155), "#fff3d6")
    out = io.BytesIO()
    image.save(out, "JPEG", quality=90)
    return out.getvalue()


def _note(message, complaints):
    # A browser logs every answer that is an error, which some tests ask for.
    if message.type == "error" and "Failed to load resource" not in message.text:
        complaints.append(message.text)
