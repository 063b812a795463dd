"""The editor in a real browser: what an author does, and what readers then see."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.pages import choose, drop, expect_alt_texts, expect_picture, paste, publish, rows, state, write

pytestmark = pytest.mark.xdist_group("browser")


def test_dropped_photo__is_published_while_it_is_processed_and_appears(page, photo_files, worker_stopped):
    with worker_stopped():
        drop(page, photo_files / "lake.jpg")
        expect(state(rows(page))).to_have_text("Queued")
        rows(page).get_by_label("Alt text").fill("A lake in the evening")
        write(page, "At the lake.")
        publish(page)
        assert "A lake in the evening" not in httpx.get(page.url).text
        page.get_by_role("link", name="Edit", exact=True).click()
        expect(state(rows(page))).to_have_text("Queued")
    expect(state(rows(page))).to_have_text("Ready")
    page.get_by_role("link", name="View the post").click()
    expect_picture(page, "A lake in the evening")
    assert "A lake in the evening" in httpx.get(page.url).text


def test_pasted_photo__uploads_at_once(page, photo_files):
    paste(page, photo_files / "field.jpg")
    expect(state(rows(page))).to_have_text("Ready")
    assert rows(page).locator("[name=photo]").input_value()


def test_corrupt_photo__shows_its_reason_and_another_file_takes_its_place(page, photo_files):
    choose(page, photo_files / "broken.jpg", photo_files / "lake.jpg")
    broken = rows(page).first
    broken.get_by_label("Alt text").fill("A field")
    expect(state(broken)).to_have_text("Failed")
    expect(broken.locator("[data-reason]")).to_contain_text("part of the image is missing")
    before = broken.locator("[name=photo]").input_value()
    broken.get_by_label("Choose another file").set_input_files(photo_files / "field.jpg")
    expect(state(broken)).to_have_text("Ready")
    expect(broken.locator("[data-reason]")).to_be_hidden()
    assert broken.locator("[name=photo]").input_value() == before
    expect_alt_texts(page, "A field", "")


def test_file_that_is_no_image__is_refused_with_the_reason_and_can_be_removed(page, photo_files):
    choose(page, photo_files / "text.jpg")
    expect(state(rows(page))).to_have_text("Not uploaded")
    expect(rows(page).locator("[data-reason]")).to_contain_text("accepted are JPEG")
    expect(rows(page).get_by_role("button", name="Try again")).to_be_hidden()
    write(page, "Without the file.")
    page.get_by_role("button", name="Publish").click()
    expect(page.locator("[data-save-state]")).to_contain_text("Not saved")
    rows(page).get_by_role("button", name="Remove photo").click()
    publish(page)


def test_lost_connection__is_tried_again_and_makes_one_photo(page, server, photo_files):
    keys = []

    def lose_the_answer(route):
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) == 1:
            route.fetch()
            route.abort()
        else:
            route.continue_()

    before = server.rows("SELECT count(*) FROM media_media")[0][0]
    page.route("**/editor/photos", lose_the_answer)
    choose(page, photo_files / "lake.jpg")
    expect(rows(page).locator("[data-reason]")).to_contain_text("The connection was lost.")
    rows(page).get_by_role("button", name="Try again").click()
    expect(state(rows(page))).to_have_text("Ready")
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert server.rows("SELECT count(*) FROM media_media")[0][0] == before + 1


def test_publish__waits_for_the_upload_and_says_so(page, photo_files):
    held = []
    page.route("**/editor/photos", lambda route: held.append(route))  # noqa: PLW0108 - it sets an attribute on it
    choose(page, photo_files / "night.jpg")
    write(page, "Night, with patience.")
    page.get_by_role("button", name="Publish").click()
    expect(page.locator("[data-save-state]")).to_contain_text("Waiting for 1 photo to upload")
    expect(page).to_have_url(re.compile("/editor/new$"))
    held[0].continue_()
    page.wait_for_url("**/20*/*/night-with-patience*")


def test_photos__are_reordered_by_drag(page, photo_files):
    choose(page, *(photo_files / f"{name}.jpg" for name in ("lake", "field", "night")))
    for number, name in enumerate(("lake", "field", "night")):
        rows(page).nth(number).get_by_label("Alt text").fill(name)
    handle = rows(page).nth(2).get_by_role("button", name="Drag")
    handle.scroll_into_view_if_needed()
    handle.hover()
    page.mouse.down()
    top = rows(page).nth(0).bounding_box()
    page.mouse.move(top["x"] + 20, top["y"] + 5, steps=8)
    page.mouse.up()
    expect_alt_texts(page, "night", "lake", "field")
    expect(rows(page).nth(0).get_by_role("button", name="Drag")).to_be_focused()
    write(page, "In another order.")
    for row in rows(page).all():
        expect(state(row)).to_have_text("Ready")
    publish(page)
    expect(page.locator("main img").first).to_have_attribute("alt", "night")


def test_keyboard__is_enough_to_write_reorder_and_publish(page, photo_files):
    page.keyboard.press("Tab")
    page.get_by_label("Title").focus()
    page.keyboard.type("By keyboard")
    page.keyboard.press("Tab")
    page.keyboard.type("No mouse at all.")
    page.keyboard.press("Tab")
    expect(page.locator("#id_files")).to_be_focused()
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Space")
    chooser.value.set_files([photo_files / "lake.jpg", photo_files / "field.jpg"])
    for number, name in enumerate(("lake", "field")):
        expect(state(rows(page).nth(number))).to_have_text("Ready")
        rows(page).nth(number).get_by_label("Alt text").focus()
        page.keyboard.type(name)
    rows(page).nth(1).get_by_role("button", name="Drag").focus()
    page.keyboard.press("ArrowUp")
    expect_alt_texts(page, "field", "lake")
    expect(rows(page).nth(0).get_by_role("button", name="Drag")).to_be_focused()
    rows(page).nth(0).get_by_role("button", name="later").focus()
    page.keyboard.press("Enter")
    expect_alt_texts(page, "lake", "field")
    expect(rows(page).nth(1).locator("[data-up]")).to_be_focused()
    expect(page.locator("[data-announcer]")).to_contain_text("Photo moved to place 2 of 2.")
    page.get_by_role("button", name="Publish").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/20*/*/by-keyboard*")


def test_keyboard__focus_is_never_behind_the_bar_with_the_buttons(open_page):
    page = open_page(reduced_motion="reduce")
    page.locator("#id_files").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Tags")).to_be_focused()
    box, bar = page.get_by_label("Tags").bounding_box(), page.locator(".save-bar").bounding_box()
    assert box["y"] + box["height"] <= bar["y"]


def test_unsaved_text__survives_a_reload_and_is_forgotten_once_saved(page, photo_files):
    choose(page, photo_files / "lake.jpg")
    expect(state(rows(page))).to_have_text("Ready")
    rows(page).get_by_label("Alt text").fill("A lake")
    write(page, "Half a sentence")
    page.reload()
    expect(page.get_by_label("Text", exact=True)).to_have_value("Half a sentence")
    expect(page.locator("[data-restored]")).to_contain_text("What you had not saved is here again")
    expect(state(rows(page))).to_have_text("Ready")
    expect_alt_texts(page, "A lake")
    publish(page)
    page.goto("/editor/new")
    expect(page.locator("[data-restored]")).to_be_hidden()
    expect(page.get_by_label("Text", exact=True)).to_have_value("")


def test_unsaved_text_of_another_tab__is_offered_and_not_forced(page):
    write(page, "In the first tab")
    page.get_by_label("Tags").fill("first")
    page.evaluate("window.dispatchEvent(new Event('pagehide'))")
    other = page.context.new_page()
    other.goto("/editor/new")
    expect(other.locator("[data-restored]")).to_contain_text("There is text that was not saved")
    expect(other.get_by_label("Text", exact=True)).to_have_value("")
    other.get_by_role("button", name="Restore it").click()
    expect(other.get_by_label("Text", exact=True)).to_have_value("In the first tab")
    publish(other)
    publish(page)
    assert page.url == other.url


def test_discarded_text__is_gone(page):
    write(page, "Never mind.")
    page.reload()
    page.get_by_role("button", name="Discard it").click()
    expect(page.get_by_label("Text", exact=True)).to_have_value("")
    page.reload()
    expect(page.locator("[data-restored]")).to_be_hidden()


def test_page_with_uploads_in_progress__is_not_left_without_a_question(page, photo_files):
    page.route("**/editor/photos", lambda route: None)
    choose(page, photo_files / "night.jpg")
    write(page, "On the way.")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.reload()
    assert asked == ["beforeunload"]


def test_double_click_on_publish__makes_one_post(page, server):
    write(page, "Clicked twice.")
    page.get_by_role("button", name="Publish").dblclick()
    page.wait_for_url("**/20*/*/clicked-twice*")
    assert server.rows("SELECT count(*) FROM posts_post WHERE content = 'Clicked twice.'") == [(1,)]


def test_signed_out_author__loses_nothing_and_saves_after_signing_in(page, session, photo_files):
    choose(page, photo_files / "lake.jpg")
    expect(state(rows(page))).to_have_text("Ready")
    rows(page).get_by_label("Alt text").fill("A lake")
    write(page, "Written for an hour.")
    page.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("alert")).to_contain_text("You were signed out")
    expect(page.get_by_label("Text", exact=True)).to_have_value("Written for an hour.")
    # Signing in anew changes what the form proves itself by.
    page.context.clear_cookies()
    page.context.add_cookies(session["cookies"])
    page.get_by_role("button", name="Publish").click()
    page.wait_for_url("**/20*/*/written-for-an-hour*")
    expect_picture(page, "A lake")


def test_published_photo__is_replaced_in_its_place(page, photo_files):
    choose(page, photo_files / "lake.jpg")
    rows(page).get_by_label("Alt text").fill("The view")
    expect(state(rows(page))).to_have_text("Ready")
    write(page, "The view today.")
    publish(page)
    address = page.url
    before = page.get_by_role("img", name="The view").get_attribute("src")
    page.get_by_role("link", name="Edit", exact=True).click()
    rows(page).get_by_label("Replace the file").set_input_files(photo_files / "night.jpg")
    expect(state(rows(page))).to_have_text("Ready")
    page.goto(address)
    expect_picture(page, "The view")
    assert page.get_by_role("img", name="The view").get_attribute("src") != before


def test_library__shows_when_a_photo_is_ready(page, photo_files, worker_stopped):
    with worker_stopped():
        choose(page, photo_files / "field.jpg")
        expect(state(rows(page))).to_have_text("Queued")
        page.goto("/editor/media")
        card = page.locator("[data-media]").first
        expect(state(card)).to_have_text("Queued")
    expect(state(card)).to_have_text("Ready")
    expect(card.locator("img")).to_have_js_property("complete", True)


def test_scheduled_post__shows_as_published_when_its_time_has_come(open_page):
    page = open_page()
    page.get_by_label("Title").fill("At its time")
    page.get_by_text("Date, visibility").click()
    page.get_by_label("Date", exact=True).fill(f"{datetime.now(tz=UTC) + timedelta(hours=2):%Y-%m-%dT%H:%M}")
    page.get_by_role("button", name="Publish").click()
    page.wait_for_url("**/editor/posts/*")
    posts = open_page("/editor/new")
    posts.clock.install()
    posts.goto("/editor/")
    row = posts.locator(".post-row").filter(has_text="At its time")
    expect(row).to_contain_text("Scheduled")
    # Its time comes: the server's clock is not ours to turn.
    page.get_by_text("Date, visibility").click()
    page.get_by_label("Date", exact=True).fill("2026-01-01T12:00")
    page.get_by_role("button", name="Update").click()
    page.wait_for_url("**/20*/*/at-its-time*")
    posts.clock.fast_forward("02:01:00")
    expect(row).to_contain_text("Published")
    expect(row.get_by_role("link", name="View")).to_be_visible()
