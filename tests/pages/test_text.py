"""Sanitised text, however its serialiser writes what may stand in an attribute."""

from vernier.pages.text import text_for_page

URL = "https://example.org/2026/03/a"


def shown(html):
    return text_for_page(html, url=URL, base="https://example.org", pictures={})


def test_tag_within_an_attribute__is_no_tag():
    html = '<a href="x" title="<img onclick> <img src>">a</a>'
    assert '<img onclick="' not in shown(html)
    assert "<img alt=" not in shown(html)


def test_address_within_text_or_an_attribute__is_no_address():
    html = '<p title=" href=&quot;x&quot;">href="x" src="y"</p>'
    assert shown(html) == html


def test_address_that_cannot_be_resolved__stays():
    assert shown('<a href="//[x">a</a>') == '<a href="//[x">a</a>'


def test_address__keeps_what_it_escapes():
    html = '<a href="/?a=1&amp;b=&quot;2&quot;">a</a>'
    assert shown(html) == '<a href="https://example.org/?a=1&amp;b=&quot;2&quot;">a</a>'


def test_attributes_without_addresses__stay_as_they_are():
    html = '<ol reversed="" start="3"><li value="2">a</li></ol><time datetime="2026-01-01">b</time>'
    assert shown(html) == html
