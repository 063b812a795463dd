"""Content: what it looks like to readers, and what never reaches them."""

import pytest

from vernier.posts.content import plain_text, render, sanitise_source
from vernier.posts.entry import Content, ContentFormat


def html(source):
    return render(Content(format=ContentFormat.HTML, source=source))


def text(source):
    return render(Content(format=ContentFormat.TEXT, source=source))


def markdown(source):
    return render(Content(format=ContentFormat.MARKDOWN, source=source))


@pytest.mark.parametrize(
    "source",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '<a href="javascript:alert(1)">x</a>',
        '<a href="data:text/html,x">x</a>',
        "<iframe src=https://a.example></iframe>",
        "<style>body{display:none}</style>",
        "<form action=/logout method=post><button>x</button></form>",
        "<svg><script>alert(1)</script></svg>",
        '<p style="position:fixed">x</p>',
        '<p class="h-entry p-name" id="main">x</p>',
        "<base href=https://a.example>",
        "<meta http-equiv=refresh content=0>",
    ],
)
@pytest.mark.parametrize("to_html", [html, markdown])
def test_render__nothing_that_runs_or_breaks_out(source, to_html):
    shown = to_html(source).lower()
    bad = ("<script", "onerror", "javascript:", "data:", "<iframe", "<style", "<form", "<svg", "style=", "class=")
    assert not [word for word in (*bad, "id=", "<base", "<meta", "alert(1)</script") if word in shown]


def test_m4__html_in_a_plain_string_is_text():
    assert text("a <b>bold</b> & co") == "<p>a &lt;b&gt;bold&lt;/b&gt; &amp; co</p>"


def test_m4__html_is_shown_as_html():
    assert html("a <b>bold</b><script>x</script>") == "a <b>bold</b>"


def test_text__keeps_lines_and_links_addresses():
    assert text("one\r\ntwo\n\n(https://a.example/b?c=1&d=2).") == (
        "<p>one<br>two</p>\n"
        '<p>(<a href="https://a.example/b?c=1&amp;d=2" rel="noopener">https://a.example/b?c=1&amp;d=2</a>).</p>'
    )


def test_markdown__is_rendered():
    shown = markdown("# Title\n\n*soft* and [a link](https://a.example)\n\n|a|b|\n|-|-|\n|1|2|")
    assert "<h1>Title</h1>" in shown
    assert '<em>soft</em> and <a href="https://a.example" rel="noopener">a link</a>' in shown
    assert "<td>1</td>" in shown


def test_sanitise_source__html_is_stored_clean():
    stored = sanitise_source(Content(format=ContentFormat.HTML, source="<b>x</b><script>y</script>"))
    assert stored.source == "<b>x</b>"


def test_plain_text__keeps_words_apart():
    assert plain_text("<p>one</p><p>two &amp; three<br>four</p>").split() == ["one", "two", "&", "three", "four"]
