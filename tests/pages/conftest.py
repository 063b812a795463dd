import mf2py
import pytest


@pytest.fixture
def parse(client):
    """Parse the page at a path as the programs of other sites do."""

    def parse(path="/"):
        return mf2py.parse(doc=client.get(path).text, url=f"http://testserver{path}", html_parser="html.parser")

    return parse


@pytest.fixture
def entry(parse):
    """Return the properties of the first h-entry of a page."""

    def entry(path="/"):
        return next(entries(parse(path)))["properties"]

    return entry


def entries(parsed):
    for item in parsed["items"]:
        if item["type"] == ["h-entry"]:
            yield item
        yield from (child for child in item.get("children", []) if child["type"] == ["h-entry"])
