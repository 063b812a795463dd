"""Documents: Markdown with front matter, as people and generators write it."""

import pytest

from vernier.exchange.documents import Document, format_document, parse, read_document
from vernier.exchange.exceptions import DocumentInvalid


def test_document__comes_back_as_it_was():
    document = Document(
        head={"title": "Ein: Tag ja", "tags": ["a", "ü"], "n": {"x": [1, None]}}, body="Text\n\n---\nend"
    )
    assert parse(format_document(document)) == document


@pytest.mark.parametrize("text", ["Just text\n---\n", "", "# Title"])
def test_document__without_front_matter_is_all_body(text):
    assert parse(text) == Document(body=text)


def test_document__times_keep_their_offset():
    assert parse("---\ndate: 2026-03-29T02:30:00+02:00\n---\n").head == {"date": "2026-03-29T02:30:00+02:00"}


def test_document__with_toml_is_read_as_with_yaml():
    head = 'Title = "A: b"\ndate = 2026-03-29T02:30:00+02:00\ndraft = true\ntags = ["a"]\n[n]\nday = 2026-03-29'
    document = parse(f"+++\n{head}\n+++\nText\n")
    assert document.head == {
        "title": "A: b",
        "date": "2026-03-29T02:30:00+02:00",
        "draft": True,
        "tags": ["a"],
        "n": {"day": "2026-03-29"},
    }
    assert document.body == "Text"


@pytest.mark.parametrize("head", ["a = ", "a: b", "a = 1\na = 2", "a = " + "[" * 3000])
def test_document__broken_toml_is_said(head):
    with pytest.raises(DocumentInvalid, match="TOML"):
        parse(f"+++\n{head}\n+++\n")


@pytest.mark.parametrize(
    "head", ["a: [", "- a\n- b", "a: &x [1]\nb: *x", "!!python/object/apply:os.system [ls]", "a: " + "[" * 3000]
)
def test_document__broken_front_matter_is_said(head):
    with pytest.raises(DocumentInvalid):
        parse(f"---\n{head}\n---\n")


@pytest.mark.parametrize("text", ["---\na: b\n", "+++\na = 1\n---\n"])
def test_document__without_end_of_front_matter(text):
    with pytest.raises(DocumentInvalid, match="no closing"):
        parse(text)


def test_document__that_is_not_utf_8(tmp_path):
    file = tmp_path / "a.md"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(DocumentInvalid, match="UTF-8"):
        read_document(file)
