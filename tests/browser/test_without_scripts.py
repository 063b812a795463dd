"""The editor without JavaScript: everything that matters can be done."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PHONE
from tests.browser.pages import choose, expect_alt_texts, expect_picture, publish, rows, state, write
from tests.processes.server import wait_until

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def page(open_page):
    return open_page(java_script_enabled=False)


def test_post_with_photos__is_made_described_and_published(page, photo_files, server):
    page.get_by_label("Title").fill("Without scripts")
    write(page, "The same post.")
    choose(page, photo_files / "lake.jpg", photo_files / "field.jpg")
    page.get_by_role("button", name="Publish").click()
    page.wait_for_url("**/editor/posts/*")
    expect(page.get_by_text("Please describe the new photos")).to_be_visible()
    rows(page).nth(0).get_by_label("Alt text").fill("A lake")
    rows(page).nth(1).get_by_label("Alt text").fill("A field")
    page.get_by_role("button", name="Move photo 2 earlier").click()
    expect_alt_texts(page, "A field", "A lake")
    page.get_by_role("button", name="Update").click()
    page.wait_for_url("**/20*/*/without-scripts*")
    wait_until(lambda: page.reload() and page.get_by_role("img").count() == 2, 20, "no pictures")
    expect(page.get_by_role("img").first).to_have_attribute("alt", "A field")


def test_refused_file__keeps_the_text_and_tells_the_reason(page, photo_files):
    write(page, "With a wrong file.")
    choose(page, photo_files / "text.jpg", photo_files / "lake.jpg")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("alert")).to_contain_text("text.jpg")
    expect(page.locator("#id_files_error")).to_contain_text("accepted are JPEG")
    expect(page.get_by_label("Text", exact=True)).to_have_value("With a wrong file.")
    expect(rows(page)).to_have_count(1)
    publish(page)


def test_photos__fit_a_telephone(open_page, photo_files):
    page = open_page(java_script_enabled=False, viewport=PHONE)
    choose(page, photo_files / "lake.jpg")
    page.get_by_role("button", name="Save draft").click()
    page.wait_for_url("**/editor/posts/*")
    assert page.locator("#photos").bounding_box()["width"] <= PHONE["width"]


def test_corrupt_photo__is_replaced_within_the_form(page, photo_files):
    write(page, "Broken at first.")
    choose(page, photo_files / "broken.jpg")
    page.get_by_role("button", name="Save draft").click()
    page.wait_for_url("**/editor/posts/*")
    wait_until(lambda: page.reload() and state(rows(page)).inner_text() == "Failed", 20, "it did not fail")
    expect(rows(page).locator("[data-reason]")).to_contain_text("part of the image is missing")
    rows(page).get_by_label("Alt text").fill("A night")
    rows(page).get_by_label("Choose another file").set_input_files(photo_files / "night.jpg")
    page.get_by_role("button", name="Publish").click()
    page.wait_for_url("**/20*/*/broken-at-first*")
    wait_until(lambda: page.reload() and page.get_by_role("img", name="A night").count() == 1, 20, "no picture")
    expect_picture(page, "A night")
