"""What an author does on the pages of the editor."""

from __future__ import annotations

import base64

from playwright.sync_api import expect

_FILES = """const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], name, { type }));"""
_DROP = f"""({{ name, type, bytes }}) => {{
  {_FILES}
  for (const kind of ["dragenter", "dragover", "drop"]) {{
    document.body.dispatchEvent(new DragEvent(kind, {{ dataTransfer: data, bubbles: true, cancelable: true }}));
  }}
}}"""
_PASTE = f"""({{ name, type, bytes }}) => {{
  {_FILES}
  const event = new ClipboardEvent("paste", {{ clipboardData: data, bubbles: true, cancelable: true }});
  document.body.dispatchEvent(event);
}}"""


def drop(page, path):
    """Drop the file somewhere on the page."""
    page.evaluate(_DROP, _as_file(path))


def paste(page, path):
    page.evaluate(_PASTE, _as_file(path))


def choose(page, *paths):
    """Choose the files in the picker."""
    page.locator("#id_files").set_input_files(list(paths))


def rows(page):
    return page.locator("[data-photos] > [data-photo]")


def state(row):
    return row.locator("[data-state-text]")


def write(page, text):
    page.get_by_label("Text", exact=True).fill(text)


def publish(page):
    """Publish, and wait for the post's page."""
    page.get_by_role("button", name="Publish").click()
    page.wait_for_url("**/20*/*/*")


def expect_picture(page, alt):
    """Wait until the picture is there and has been decoded."""
    picture = page.get_by_role("img", name=alt)
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("image => image.naturalWidth") > 0


def expect_alt_texts(page, *texts):
    """Wait until the photos of the form have these, in this order: without scripts a button loads the page anew."""
    boxes = rows(page).get_by_label("Alt text")
    expect(boxes).to_have_count(len(texts))
    for number, text in enumerate(texts):
        expect(boxes.nth(number)).to_have_value(text)


def _as_file(path):
    return {"name": path.name, "type": "image/jpeg", "bytes": base64.b64encode(path.read_bytes()).decode()}
