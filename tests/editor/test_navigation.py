"""The way around: the same on every page that an author has to do with."""

import re

import pytest

from tests.editor.pages import text_of

PAGES = {
    "/editor/new": "Write",
    "/editor/": "Posts",
    "/editor/media": "Photos",
    "/editor/tokens": "Apps",
    "/account": "Account",
}


@pytest.mark.parametrize("path", [*PAGES, "/account/email", "/account/password"])
def test_navigation__is_on_every_page_and_says_which_it_is(client, path):
    (navigation,) = re.findall(r'<nav class="editor-nav".*?</nav>', text_of(client.get(path)), re.DOTALL)
    assert re.findall(r">(\w+)</a>", navigation) == list(PAGES.values())
    current = re.findall(r'aria-current="page">(\w+)<', navigation)
    assert current == ([PAGES[path]] if path in PAGES else [])
