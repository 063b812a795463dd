"""How the pages look, and whether everybody can use them: screenshots to look at, and axe-core on each page."""

from __future__ import annotations

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import expect

from tests.browser.conftest import DESKTOP, PHONE, SCREENSHOTS
from tests.browser.pages import choose, publish, rows, state

pytestmark = pytest.mark.xdist_group("browser")

LOOKS = {
    "phone-light": {"viewport": PHONE, "color_scheme": "light"},
    "phone-dark": {"viewport": PHONE, "color_scheme": "dark"},
    "desktop-light": {"viewport": DESKTOP, "color_scheme": "light"},
    "desktop-dark": {"viewport": DESKTOP, "color_scheme": "dark"},
}
# Both widths and both colour schemes; a page takes axe a second.
MEASURED = ("phone-dark", "desktop-light")
TEXT = "We walked around the lake until the light was gone.\n\nThe water was **colder** than it looked."


@pytest.fixture(scope="module")
def paths(browser, server, session, photo_files):
    """Pages to look at; the form has a photo that is ready and one that failed."""
    context = browser.new_context(base_url=server.url, storage_state=session)
    page = context.new_page()
    page.goto("/editor/new")
    page.get_by_label("Title").fill("Around the lake")
    page.get_by_label("Text", exact=True).fill(TEXT)
    page.get_by_label("Tags").fill("walks, lake")
    page.locator("#id_files").set_input_files([photo_files / "lake.jpg", photo_files / "broken.jpg"])
    expect(state(rows(page).first)).to_have_text("Ready")
    expect(state(rows(page).last)).to_have_text("Failed")
    page.get_by_label("Alt text").first.fill("A lake between hills, the sun low")
    page.get_by_role("button", name="Save draft").click()
    page.wait_for_url("**/editor/posts/*")
    form = page.url
    page.get_by_role("button", name="Publish").click()
    page.wait_for_url("**/20*/*/*")
    permalink = page.url
    context.close()
    return {
        "form": form,
        "permalink": permalink,
        "new": "/editor/new",
        "list": "/editor/",
        "library": "/editor/media",
        "home": "/",
    }


@pytest.mark.parametrize("look", LOOKS)
def test_pages__look_good_and_are_accessible(open_page, paths, photo_files, worker_stopped, look):
    page, faults = open_page("/editor/", **LOOKS[look]), {}
    with worker_stopped():
        page.goto(paths["form"])
        choose(page, photo_files / "field.jpg", photo_files / "text.jpg")
        expect(state(rows(page).nth(2))).to_have_text("Queued")
        expect(state(rows(page).nth(3))).to_have_text("Not uploaded")
        faults["form"] = look_at(page, f"form-{look}")
        for name in ("permalink", "new", "list", "library", "home"):
            page.goto(paths[name])
            faults[name] = look_at(page, f"{name}-{look}")
    page.goto("/editor/media?show=failed")
    page.locator("[data-state=failed] a").first.click()
    faults["image"] = look_at(page, f"image-{look}")
    page.goto("/editor/new")
    page.get_by_text("Reply, like, repost, bookmark").click()
    page.get_by_label("In reply to").fill("example")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("alert")).to_contain_text("is no web address")
    faults["refused"] = look_at(page, f"refused-{look}")
    assert {name: found for name, found in faults.items() if found} == {}


def test_tall_photo__is_shown_no_higher_than_a_screen(open_page, tmp_path):
    page = open_page(viewport=PHONE)
    Image.new("RGB", (300, 2000), "#274a63").save(tmp_path / "tower.png")
    choose(page, tmp_path / "tower.png")
    expect(state(rows(page))).to_have_text("Ready")
    publish(page)
    assert page.locator(".frame").bounding_box()["height"] <= PHONE["height"]


@pytest.mark.parametrize("look", LOOKS)
def test_sign_in_page__looks_good_and_is_accessible(open_page, look):
    page = open_page("/login", is_signed_in=False, **LOOKS[look])
    assert look_at(page, f"login-{look}") == []


def look_at(page, name):
    """Take a picture, and return the serious faults that axe-core finds; nothing is wider than the window."""
    SCREENSHOTS.mkdir(exist_ok=True)
    window = page.viewport_size
    page.wait_for_load_state("load")
    # As high as the page, so that what stays at the bottom of the window hides nothing.
    page.set_viewport_size({**window, "height": page.evaluate("document.documentElement.scrollHeight")})
    page.evaluate("Promise.allSettled([...document.images].map((image) => image.decode()))")
    page.screenshot(path=SCREENSHOTS / f"{name}.png")
    page.set_viewport_size(window)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"{name} scrolls sideways"
    if not name.endswith(MEASURED):
        return []
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    serious = [fault for fault in found if fault["impact"] in {"serious", "critical"}]
    return [json.dumps([fault["id"], [node["html"] for node in fault["nodes"]]]) for fault in serious]
