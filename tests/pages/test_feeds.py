import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import feedparser
import pytest
from django.utils import timezone

from tests.media_api.factory import add_version, make_media, make_ready
from tests.pages.factory import NOON, feed_items, html, publish, publish_many
from vernier.media.delete import delete_media
from vernier.posts.delete import delete_post
from vernier.posts.entry import EntryPhoto, Status, Visibility
from vernier.posts.models import Post
from vernier.posts.write import change_post

FEEDS = ("/rss.xml", "/atom.xml", "/feed.json")
XML = FEEDS[:2]
ATOM = "{http://www.w3.org/2005/Atom}"
ENCODED = "{http://purl.org/rss/1.0/modules/content/}encoded"


def xml(client, path):
    return ET.fromstring(client.get(path).content)


def contents(client, path="/feed.json"):
    """Return the HTML of every entry, whatever the format."""
    if path.endswith("json"):
        return [item["content_html"] for item in feed_items(client, path)]
    root = xml(client, path)
    return [found.text or "" for found in [*root.iter(ENCODED), *root.iter(f"{ATOM}content")]]


@pytest.mark.parametrize("path", XML)
def test_feed__is_read_without_complaint(path, author, client):
    publish(author, title="Grüße, 世界 🐦", content="Ünïcödé & <b>", tags=("Vögel",), photos=[make_media(author)])
    parsed = feedparser.parse(client.get(path).content)
    assert not parsed.bozo
    (entry,) = parsed.entries
    assert entry.title == "Grüße, 世界 🐦"
    assert entry.tags[0].term == "Vögel"
    assert "Ünïcödé &amp; &lt;b&gt;" in entry.content[-1].value
    assert parsed.feed.language == "en"


@pytest.mark.parametrize("path", FEEDS)
def test_feed__says_its_type_and_where_it_is(path, author, client):
    response = client.get(path)
    kinds = dict(zip(FEEDS, ("rss+xml", "atom+xml", "feed+json"), strict=True))
    assert response["Content-Type"] == f"application/{kinds[path]}; charset=utf-8"
    assert response["Link"] == f'<http://127.0.0.1:8000{path}>; rel="self"'
    assert f"http://127.0.0.1:8000{path}" in response.text


def test_rss__has_what_the_format_requires(author, client):
    publish(author, content="A note", tags=("a",), photos=[make_media(author)])
    channel = xml(client, "/rss.xml").find("channel")
    assert all(channel.findtext(name) for name in ("title", "link", "description", "language", "lastBuildDate"))
    item = channel.find("item")
    assert item.find("title") is None
    assert item.findtext("description")
    assert parsedate_to_datetime(item.findtext("pubDate")) == NOON
    assert item.find("guid").attrib == {"isPermaLink": "false"}
    assert item.findtext("guid") == f"urn:uuid:{Post.objects.get().pk}"
    (enclosure,) = item.findall("enclosure")
    assert (enclosure.get("length"), enclosure.get("type")) == ("200", "image/jpeg")


def test_atom__has_what_the_format_requires(author, client):
    publish(author, content="A note", photos=[make_media(author), make_media(author)])
    root = xml(client, "/atom.xml")
    entry = root.find(f"{ATOM}entry")
    for element in (root, entry):
        assert all(element.findtext(f"{ATOM}{name}") for name in ("id", "title", "updated"))
        assert datetime.fromisoformat(element.findtext(f"{ATOM}updated")).tzinfo
        assert element.findtext(f"{ATOM}author/{ATOM}name") == "alice"
    assert entry.findtext(f"{ATOM}title") == "A note"
    assert entry.find(f"{ATOM}content").get("type") == "html"
    links = [link for link in entry.iter(f"{ATOM}link") if link.get("rel") == "enclosure"]
    assert [(link.get("length"), link.get("type")) for link in links] == [("200", "image/jpeg")] * 2


def test_json_feed__has_what_the_format_requires(author, client):
    media = make_media(author)
    post = publish(author, content="A note", tags=("a",), photos=[media])
    feed = client.get("/feed.json").json()
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert feed["authors"] == [{"name": "alice", "url": "http://127.0.0.1:8000/"}]
    (item,) = feed["items"]
    assert (item["id"], item["url"]) == (f"urn:uuid:{post.pk}", f"http://127.0.0.1:8000/{post.path}")
    assert "title" not in item
    address = f"http://127.0.0.1:8000/media/{media.pk}/v1/fallback.jpg"
    assert item["attachments"] == [{"url": address, "mime_type": "image/jpeg", "size_in_bytes": 200}]
    assert item["image"] == address
    assert datetime.fromisoformat(item["date_published"]) == NOON


@pytest.mark.parametrize("path", FEEDS)
def test_i12__photo_is_in_the_content_with_its_alt_text(path, author, client):
    photos = [EntryPhoto(media_id=make_media(author).pk, alt=alt) for alt in ('A "wall"', "B & C")]
    publish(author, photos=photos)
    (content,) = contents(client, path)
    alts = re.findall(r'<img src="(http://[^"]+/fallback\.jpg)" alt="([^"]*)" width="400" height="300">', content)
    assert [alt for _, alt in alts] == ["A &quot;wall&quot;", "B &amp; C"]
    assert [str(photo.media_id) in url for photo, (url, _) in zip(photos, alts, strict=True)] == [True, True]


@pytest.mark.parametrize("path", FEEDS)
def test_i12__photo_is_nowhere_until_it_is_ready(path, author, client):
    media = make_media(author, status="processing", contents={})
    publish(author, photos=[media])
    assert str(media.pk) not in client.get(path).text
    make_ready(media)
    page = client.get(path).text
    assert page.count(f"/media/{media.pk}/v1/fallback.jpg") >= 2


@pytest.mark.parametrize("path", FEEDS)
def test_post__whose_only_photo_is_not_ready_is_a_valid_entry(path, author, client):
    publish(author, content=None, photos=[make_media(author, status="pending", contents={})])
    page = client.get(path)
    assert str(Post.objects.get().pk) in page.text
    if path in XML:
        assert not feedparser.parse(page.content).bozo
    if path == "/rss.xml":
        assert xml(client, path).findtext("channel/item/description") == "Photo, 1 March 2026"


def test_updated__moves_when_a_photo_becomes_ready_and_when_it_is_replaced(author, client):
    media = make_media(author, status="pending", contents={})
    publish(author, photos=[media])
    assert feed_items(client)[0]["date_modified"] == NOON.isoformat()
    make_ready(media)
    ready = feed_items(client)[0]["date_modified"]
    assert datetime.fromisoformat(ready) > NOON
    media.refresh_from_db()
    add_version(media)
    assert feed_items(client)[0]["date_modified"] > ready


def test_updated__moves_when_a_photo_is_deleted(author, client):
    media = make_media(author)
    publish(author, photos=[media])
    ready = feed_items(client)[0]["date_modified"]
    delete_media(media.pk, owner=author)
    assert feed_items(client)[0]["date_modified"] > ready


def test_updated__is_in_every_format(author, client):
    publish(author, photos=[make_media(author)])
    modified = datetime.fromisoformat(feed_items(client)[0]["date_modified"])
    rss, atom = xml(client, "/rss.xml"), xml(client, "/atom.xml")
    assert datetime.fromisoformat(rss.findtext(f"channel/item/{ATOM}updated")) == modified
    assert parsedate_to_datetime(rss.findtext("channel/lastBuildDate")) == modified.replace(microsecond=0)
    assert datetime.fromisoformat(atom.findtext(f"{ATOM}updated")) == modified
    assert datetime.fromisoformat(atom.findtext(f"{ATOM}entry/{ATOM}updated")) == modified


@pytest.mark.parametrize("path", FEEDS)
def test_i10__addresses_are_absolute(path, author, client):
    media = make_media(author)
    publish(author, content=html(f'<p><a href="../x">a</a> <img src="/media/{media.pk}" alt="b"></p>'), tags=("t",))
    (content,) = contents(client, path)
    addresses = re.findall(r'(?:href|src)="([^"]+)"', content)
    assert addresses == ["http://127.0.0.1:8000/2026/x", f"http://127.0.0.1:8000/media/{media.pk}/v1/fallback.jpg"]


def test_linked_photo__is_in_the_content_and_no_enclosure(author, client):
    publish(author, photos=[EntryPhoto(url="https://img.example/1.jpg", alt="Theirs")])
    assert '<img src="https://img.example/1.jpg" alt="Theirs">' in contents(client)[0]
    assert "attachments" not in feed_items(client)[0]
    assert xml(client, "/rss.xml").find("channel/item/enclosure") is None


def test_i11__note_has_no_title(author, client):
    publish(author, content="A note")
    assert xml(client, "/rss.xml").find("channel/item/title") is None
    assert "title" not in feed_items(client)[0]


def test_like__says_what_it_likes(author, client):
    publish(author, content=None, properties={"like-of": ["https://other.example/1"]})
    for path in FEEDS:
        assert contents(client, path) == ['<p>Liked <a href="https://other.example/1">other.example/1</a></p>']


@pytest.mark.parametrize("path", XML)
@pytest.mark.parametrize("letter", ["\x0b", "\x01", "\ufffe", "\x1f"])
def test_letter_that_xml_has_not__does_not_break_the_feed(path, letter, author, client):
    text = f"be{letter}fore"
    photo = EntryPhoto(media_id=make_media(author).pk, alt=text, caption=text)
    publish(author, title=text, summary=text, content=text, tags=(text,), photos=[photo])
    parsed = feedparser.parse(client.get(path).content)
    assert not parsed.bozo
    assert parsed.entries[0].title == "before"


@pytest.mark.parametrize("file_name", FEEDS)
def test_feed__of_a_tag_and_of_an_author_has_their_posts_only(file_name, author, client, django_user_model):
    bob = django_user_model.objects.create_user("bob")
    publish(author, content="Alice on birds", tags=("birds",))
    publish(bob, content="Bob on bread", tags=("bread",))
    tagged, written = client.get(f"/tags/birds{file_name}").text, client.get(f"/authors/bob{file_name}").text
    assert "Alice on birds" in tagged
    assert "Bob on bread" not in tagged
    assert "Bob on bread" in written
    assert "Alice on birds" not in written
    assert f"http://127.0.0.1:8000/tags/birds{file_name}" in tagged


def test_feed__of_a_tag_has_one_address(author, client):
    publish(author, tags=("Low sun",))
    response = client.get("/tags/Low%20sun/rss.xml")
    assert (response.status_code, response["Location"]) == (301, "/tags/low-sun/rss.xml")


def test_feed__has_the_twenty_newest_posts(author, client):
    publish_many(author, 25)
    assert [item["content_html"] for item in feed_items(client)] == [f"<p>Note {n}</p>" for n in range(24, 4, -1)]


@pytest.mark.django_db
@pytest.mark.parametrize("path", FEEDS)
def test_feed__of_an_empty_site_is_valid(path, client):
    page = client.get(path)
    assert page.status_code == 200
    assert (
        json.loads(page.content)["items"] == [] if path.endswith("json") else not feedparser.parse(page.content).bozo
    )


@pytest.mark.parametrize("path", [*FEEDS, "/", "/tags/a", "/authors/alice/rss.xml"])
def test_conditional_request__is_answered_by_304_until_something_changes(path, author, client):
    post = publish(author, tags=("a",))
    publish(author, content="Stays", tags=("a",))
    first = client.get(path)
    for known in ({"If-None-Match": first["ETag"]}, {"If-Modified-Since": first["Last-Modified"]}):
        again = client.get(path, headers=known)
        assert again.status_code == 304
        assert again["ETag"] == first["ETag"]
        assert again.content == b""
    delete_post(author, post.pk)
    assert client.get(path, headers={"If-None-Match": first["ETag"]}).status_code == 200


def test_conditional_request__sees_that_the_newest_post_was_taken_back(author, client):
    publish(author)
    newest = publish(author, published_at=NOON + timedelta(hours=1))
    modified = client.get("/rss.xml")["Last-Modified"]
    delete_post(author, newest.pk)
    assert client.get("/rss.xml", headers={"If-Modified-Since": modified}).status_code == 200


@pytest.mark.parametrize("path", [*FEEDS, "/", "/tags/a", "/authors/alice/rss.xml"])
@pytest.mark.parametrize(
    "leave",
    [
        lambda author, post: delete_post(author, post.pk),
        lambda author, post: change_post(author, post.pk, lambda it: replace(it, visibility=Visibility.PRIVATE)),
        lambda author, post: change_post(author, post.pk, lambda it: replace(it, status=Status.DRAFT)),
    ],
    ids=["deleted", "private", "draft"],
)
def test_conditional_request__by_time_alone_sees_that_an_older_post_has_left(path, leave, author, client):
    older = publish(author, content="Not for everybody", tags=("a",))
    publish(author, published_at=NOON + timedelta(hours=1), tags=("a",))
    first = client.get(path)
    leave(author, older)
    later = client.get(path, headers={"If-Modified-Since": first["Last-Modified"]})
    assert (later.status_code, "Not for everybody" in later.text) == (200, False)


def test_conditional_request__does_not_tell_of_edits_that_nobody_may_see(author, client):
    publish(author)
    draft = publish(author, status=Status.DRAFT)
    first = client.get("/rss.xml")
    change_post(author, draft.pk, lambda it: replace(it, title="Later"))
    delete_post(author, draft.pk)
    assert client.get("/rss.xml")["Last-Modified"] == first["Last-Modified"]


@pytest.mark.parametrize("path", [*FEEDS, "/"])
def test_photo__shows_on_the_next_load_after_ready(path, author, client):
    media = make_media(author, status="pending", contents={})
    publish(author, photos=[media])
    first = client.get(path)
    assert first["Cache-Control"] == "public, no-cache"
    make_ready(media)
    known = {"If-None-Match": first["ETag"], "If-Modified-Since": first["Last-Modified"]}
    assert client.get(path, headers=known).status_code == 200
    later = {"If-Modified-Since": first["Last-Modified"]}
    assert str(media.pk) in client.get(path, headers=later).text


def test_feed__is_the_same_for_its_author(author, client):
    publish(author, photos=[make_media(author, status="failed", contents={})])
    readers = client.get("/rss.xml").content
    client.force_login(author)
    assert client.get("/rss.xml").content == readers


def test_feed__every_address_of_an_entry_is_absolute_http(author, client):
    publish(author, title="T", photos=[make_media(author)])
    addresses = re.findall(r'(?:href|url)="([^"]+)"|<link>([^<]+)</link>', client.get("/rss.xml").text)
    assert all(urlsplit(one or other).scheme == "http" for one, other in addresses)


def test_feed__of_the_future_waits(author, client):
    publish(author, published_at=timezone.now() + timedelta(minutes=5))
    assert feed_items(client) == []


@pytest.mark.parametrize("path", [*FEEDS, "/"])
def test_feed__takes_the_oldest_time_that_there_is(path, author, client):
    publish(author, content="Old", published_at=datetime(1, 1, 1, 12, tzinfo=UTC))
    page = client.get(path)
    assert page.status_code == 200
    assert "Old" in page.text
    assert client.get(path, headers={"If-Modified-Since": page.get("Last-Modified", "")}).status_code in {200, 304}
