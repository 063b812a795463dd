import re
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from tests.media_api.factory import make_media
from tests.pages.factory import NOON, html, publish
from vernier.posts.entry import EntryPhoto
from vernier.posts.write import change_post

OTHER = "https://other.example/post"


def test_note__has_content_and_no_name(author, entry):
    post = publish(author, content="A quiet morning.")
    found = entry(f"/{post.path}")
    assert "name" not in found
    assert found["content"][0]["value"] == "A quiet morning."
    assert found["url"] == found["uid"] == [f"http://127.0.0.1:8000/{post.path}"]


def test_article__has_its_name_and_summary(author, entry):
    post = publish(author, title="Light", summary="In short", content="All of it.", tags=("Low sun",))
    found = entry(f"/{post.path}")
    assert (found["name"], found["summary"], found["category"]) == (["Light"], ["In short"], ["Low sun"])


def test_entry__has_its_author_as_card(author, entry):
    author.display_name = "Alice Ångström"
    author.save()
    card = entry(f"/{publish(author).path}")["author"][0]
    assert card["type"] == ["h-card"]
    assert card["properties"] == {"name": ["Alice Ångström"], "url": ["http://127.0.0.1:8000/"]}


def test_entry__keeps_the_offset_of_its_author(author, entry):
    at = NOON.astimezone(timezone.get_fixed_timezone(330))
    found = entry(f"/{publish(author, published_at=at).path}")
    assert datetime.fromisoformat(found["published"][0]).isoformat() == "2026-03-01T17:30:00+05:30"
    assert "updated" not in found


@pytest.mark.parametrize("name", ["in-reply-to", "like-of", "repost-of", "bookmark-of"])
def test_entry__without_content_names_what_it_is_about(name, author, entry):
    post = publish(author, content=None, properties={name: [OTHER]})
    found = entry(f"/{post.path}")
    assert found[name] == [OTHER]
    assert not {"name", "content", "photo"} & set(found)


def test_rsvp__has_its_answer(author, entry, client):
    post = publish(author, content=None, properties={"in-reply-to": [OTHER], "rsvp": ["maybe"]})
    assert entry(f"/{post.path}")["rsvp"] == ["maybe"]
    assert "Perhaps going" in client.get(f"/{post.path}").text


def test_entry__links_its_copies(author, entry):
    post = publish(author, properties={"syndication": ["https://social.example/1"]})
    assert entry(f"/{post.path}")["syndication"] == ["https://social.example/1"]


def test_entry__takes_no_address_that_runs(author, client):
    post = publish(author, properties={"in-reply-to": ["javascript:alert(1)"], "syndication": ["data:text/html,x"]})
    assert "javascript:" not in client.get(f"/{post.path}").text


def test_entry__escapes_whatever_was_written(author, client):
    evil = '"><script>alert(1)</script>'
    photo = EntryPhoto(url="https://img.example/1.jpg", alt=evil, caption=evil)
    post = publish(author, title=evil, summary=evil, content=evil, tags=(evil,), photos=[photo])
    for path in (f"/{post.path}", "/", "/rss.xml", "/atom.xml"):
        assert "<script" not in client.get(path).text


def test_page__allows_no_script_and_no_frame(author, client):
    headers = client.get(f"/{publish(author).path}").headers
    assert "unsafe-inline" not in headers["Content-Security-Policy"]
    assert "script-src 'self'; style-src 'self'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"


def test_page__needs_no_script_and_no_inline_style(author, client):
    for path in ("/", f"/{publish(author, title='A').path}", "/archive", "/nowhere"):
        page = client.get(path).text
        assert "<script" not in page
        assert " style=" not in page
        assert "<style" not in page


def test_content__has_the_direction_of_its_script(author, client):
    assert (
        '<div class="e-content" dir="auto"><p>مرحبا' in client.get(f"/{publish(author, content='مرحبا').path}").text
    )


def test_content__has_links_that_work_from_a_list(author, client):
    post = publish(author, content=html('<a href="next">n</a> <a href="#note">f</a> <a href="/x?a=1&amp;b=2">a</a>'))
    page = client.get("/").text
    assert f'href="http://127.0.0.1:8000/{post.path.rpartition("/")[0]}/next"' in page
    assert f'href="http://127.0.0.1:8000/{post.path}#note"' in page
    assert 'href="http://127.0.0.1:8000/x?a=1&amp;b=2"' in page


def test_list__shows_a_summary_in_place_of_a_long_text(author, client):
    publish(author, title="Light", summary="In short.", content="All of it.")
    page = client.get("/").text
    assert "In short." in page
    assert "All of it." not in page


def test_preview__is_of_the_post(author, client):
    post = publish(author, content='Words & "more" words')
    page = client.get(f"/{post.path}").text
    assert f'<link rel="canonical" href="http://127.0.0.1:8000/{post.path}">' in page
    assert '<meta property="og:type" content="article">' in page
    assert '<meta property="og:description" content="Words &amp; &quot;more&quot; words">' in page
    assert '<meta name="twitter:card" content="summary">' in page


def test_entry__says_when_it_changed(author, entry, client):
    post = publish(author)
    change_post(author, post.pk, lambda one: replace(one, title="Now"), now=NOON + timedelta(days=1))
    assert datetime.fromisoformat(entry(f"/{post.path}")["updated"][0]) == NOON + timedelta(days=1)
    assert "updated 2 March 2026" in client.get(f"/{post.path}").text


def test_entry__a_photo_that_became_ready_later_is_no_edit(author, entry, client):
    post = publish(author, photos=[make_media(author)])
    assert datetime.fromisoformat(entry(f"/{post.path}")["updated"][0]) > NOON
    assert "<span>updated" not in client.get(f"/{post.path}").text


def test_style_sheet__is_small(author, client):
    page = client.get(f"/{publish(author, title='A').path}").text
    (sheet,) = re.findall(r'<link rel="stylesheet" href="([^"]+)"', page)
    assert len(client.get(sheet).content) < 15_000
