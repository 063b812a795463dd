"""What the specification of Micropub asks for beyond the suite, by number."""

import json

import pytest
from django.utils import timezone

from tests.micropub.client import ENDPOINT, FORM, Micropub
from tests.posts.factory import make_media
from vernier.authors.models import SCOPES, issue_token
from vernier.posts.models import Post

pytestmark = pytest.mark.django_db
OTHER_SITE = "https://photos.example/a.jpg"
HERON = "https://photos.example/heron.jpg"


def assert_refused(answer, *words, status=400, error="invalid_request"):
    assert answer.status_code == status, answer.content
    assert answer.headers["Content-Type"] == "application/json"
    content = answer.json()
    assert content["error"] == error
    assert all(word in content["error_description"] for word in words), content


def test_mp_1__text_is_utf_8(micropub):
    text = "Grüße aus 東京 🗼"
    by_form = micropub.form({"content": text}).headers["Location"]
    by_json = micropub.create(content=text, category="日本")
    assert micropub.source(by_form)["content"] == micropub.source(by_json)["content"] == [text]
    assert micropub.source(by_json)["category"] == ["日本"]


def test_mp_2__token_in_header_or_form(micropub):
    nobody = Micropub("")
    assert micropub.form({"content": "Header"}).status_code == 201
    assert nobody.form({"content": "Form", "access_token": micropub.token}).status_code == 201
    assert nobody.json({"properties": {"content": ["x"]}, "access_token": micropub.token}).status_code == 401


def test_mp_3__form_creates_an_entry(micropub):
    url = micropub.form({"h": "entry", "name": "Title", "content": "Text", "summary": "Short"}).headers["Location"]
    source = micropub.source(url, "name", "content", "summary")
    assert source == {"name": ["Title"], "content": ["Text"], "summary": ["Short"]}


def test_mp_4__updates_come_with_json_and_source(micropub):
    url = micropub.create(content="One")
    micropub.update(url, replace={"content": ["Two"]})
    assert micropub.source(url)["content"] == ["Two"]


def test_mp_5__multipart_without_files_is_accepted(micropub):
    answer = micropub.http.post(ENDPOINT, {"h": "entry", "content": "Parts"}, headers=micropub.headers())
    assert micropub.source(answer.headers["Location"])["content"] == ["Parts"]


def test_mp_6__configuration_names_the_media_endpoint(micropub):
    assert micropub.query("config").json()["media-endpoint"] == "http://127.0.0.1:8000/media"


def test_mp_7__brackets_are_a_list_and_nothing_else(micropub):
    url = micropub.form([("content[]", "Text"), ("category", "a"), ("category[]", "b")]).headers["Location"]
    assert micropub.source(url, "content", "category") == {"content": ["Text"], "category": ["a", "b"]}
    for name in ("category[0]", "content[text]", "name[html]"):
        assert_refused(micropub.form({"content": "Text", name: "x"}), name)


def test_mp_7__html_in_a_form_is_taken_under_the_name_that_clients_give_it(micropub):
    html = "<p>Quill and Bridgy send <b>this</b>.</p>"
    for plain in ({}, {"content": "Quill and Bridgy send this."}):
        url = micropub.form({"name": "Title", "content[html]": html, **plain}).headers["Location"]
        assert micropub.source(url, "content") == {"content": [{"html": html}]}
    empty = micropub.form({"name": "Only a title", "content[html]": ""}).headers["Location"]
    assert "content" not in micropub.source(empty)


def test_mp_7__a_form_may_spell_out_photos_with_their_texts(micropub):
    parts = [("photo[][value]", HERON), ("photo[][alt]", "A heron"), ("photo[][value]", OTHER_SITE)]
    url = micropub.form([("h", "entry"), *parts]).headers["Location"]
    assert micropub.source(url)["photo"] == [{"value": HERON, "alt": "A heron"}, OTHER_SITE]
    nameless = micropub.form([("h", "entry"), ("photo[][alt]", "Of what?")])
    assert (nameless.status_code, nameless.json()["error"]) == (400, "invalid_request")


def test_mp_8__reserved_names_are_no_properties(micropub):
    reserved = {"url": "https://x.example/", "mp-destination": "x", "access_token": micropub.token, "q": "kept"}
    by_form = micropub.form({"h": "entry", "content": "Text", **reserved}).headers["Location"]
    properties = {"content": ["Other"], "mp-destination": ["x"], "access_token": [micropub.token]}
    by_json = micropub.json({"properties": properties}).headers["Location"]
    assert set(micropub.source(by_form)) - set(micropub.source(by_json)) == {"q"}
    assert micropub.source(by_form)["url"] == [by_form]
    assert micropub.token not in str(list(Post.objects.values()))


def test_mp_9__without_a_type_it_is_an_entry(micropub):
    assert micropub.form({"content": "No h"}).status_code == 201
    assert micropub.json({"properties": {"content": ["No type"]}}).status_code == 201
    assert_refused(micropub.form({"h": "event", "content": "x"}), "event", "entry")
    assert_refused(micropub.json({"type": ["h-event"], "properties": {"content": ["x"]}}), "h-entry")


def test_mp_10__photo_is_a_url_of_ours_or_anybodys(micropub, author):
    ours = f"http://127.0.0.1:8000/media/{make_media(author).pk}"
    url = micropub.create(photo=[OTHER_SITE, ours])
    assert micropub.source(url)["photo"] == [OTHER_SITE, ours]
    # Ours is attached as what it is, under whatever address it came.
    renditions = micropub.create(photo=[f"{ours}/v1/fallback.jpg", ours.replace("http:", "https:")])
    assert micropub.source(renditions)["photo"] == [ours, ours]


def test_mp_10__image_of_another_author_is_refused(stranger, author):
    theirs = f"http://127.0.0.1:8000/media/{make_media(author).pk}"
    assert_refused(stranger.json({"properties": {"photo": [theirs]}}), "image of this author")
    assert not Post.objects.exists()


@pytest.mark.parametrize("value", ["text", 1, None, {"html": "x"}, True])
def test_mp_11__values_in_json_are_lists(micropub, value):
    assert_refused(micropub.json({"properties": {"content": value}}), "content", "list")
    assert not Post.objects.exists()


def test_mp_12__unknown_properties_are_kept_beside_the_rest(micropub):
    url = micropub.create(content="Text", weather=["sunny"], x_nested={"type": ["h-x"], "properties": {"a": [1.5]}})
    assert micropub.source(url)["weather"] == ["sunny"]
    assert micropub.source(url)["x-nested"] == [{"type": ["h-x"], "properties": {"a": [1.5]}}]


def test_mp_13__location_is_an_absolute_address_of_the_post(micropub):
    answer = micropub.form({"content": "Where am I"})
    assert answer.status_code == 201
    assert answer.headers["Location"].endswith("/where-am-i")
    assert answer.headers["Location"].startswith("http://127.0.0.1:8000/")


def test_mp_14__answer_has_the_address_in_its_body_too(micropub):
    """Links in the answer are a MAY; there is nothing to say in them."""
    answer = micropub.form({"content": "Where am I"})
    assert answer.json() == {"url": answer.headers["Location"]}
    assert "Link" not in answer.headers


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"replace": []},
        {"add": {"category": "x"}},
        {"delete": "category"},
        {"delete": [1]},
        {"delete": {"category": "x"}},
        {"add": {"content": ["a second"]}},
    ],
)
def test_mp_15__update_that_is_malformed(micropub, changes):
    url = micropub.create(content="Text", category="a")
    before = micropub.source(url)
    assert_refused(micropub.update(url, **changes))
    assert micropub.source(url) == before


def test_mp_15__update_changes_what_it_names_only(micropub):
    url = micropub.create(content="Text", category=["a", "b"], name="Title", weather="sunny")
    before = micropub.source(url)
    answer = micropub.update(url, add={"syndication": ["https://x.example/1"]}, delete={"category": ["a", "b"]})
    assert answer.status_code == 204
    after = micropub.source(url)
    assert "category" not in after
    assert after.pop("syndication") == ["https://x.example/1"]
    assert {**after, "category": ["a", "b"], "updated": before["updated"]} == before


def test_mp_15__update_deletes_a_photo_by_its_address(micropub, author):
    ours = f"http://127.0.0.1:8000/media/{make_media(author).pk}"
    photos = [{"value": ours, "alt": "Ours"}, {"value": OTHER_SITE, "alt": "Elsewhere"}, f"{OTHER_SITE}?2"]
    url = micropub.create(photo=photos)
    micropub.update(url, delete={"photo": [f"{ours}/v1/photo.avif", OTHER_SITE]})
    assert micropub.source(url)["photo"] == [f"{OTHER_SITE}?2"]


def test_mp_15__update_does_all_three_at_once(micropub):
    url = micropub.create(content="Text", category=["a", "b"], name="Title")
    changes = {"replace": {"content": ["New"]}, "add": {"category": ["c"]}, "delete": {"category": ["a"]}}
    micropub.update(url, **changes)
    assert micropub.source(url, "content", "category") == {"content": ["New"], "category": ["b", "c"]}


@pytest.mark.parametrize("name", ["mp-slug", "slug"])
def test_mp_16__new_slug_is_answered_with_the_new_address(micropub, name):
    url = micropub.create(content="Old name")
    answer = micropub.update(url, replace={name: ["new-name"]})
    assert answer.status_code == 201
    moved = answer.headers["Location"]
    assert moved == url.replace("old-name", "new-name")
    assert micropub.source(moved)["url"] == [moved]
    # The old address is one of the post for ever.
    assert micropub.update(url, replace={"content": ["Still here"]}).status_code == 204
    assert micropub.page(url).headers["Location"].endswith("new-name")


def test_mp_17__delete_and_undelete_have_no_body(micropub):
    url = micropub.create(content="Text")
    for action in ("delete", "delete", "undelete", "undelete"):
        answer = micropub.act(action, url)
        assert (answer.status_code, answer.content) == (204, b"")


def test_mp_18__update_by_form_is_refused(micropub):
    url = micropub.create(content="Text")
    assert_refused(micropub.form({"action": "update", "url": url, "content": "x"}), "JSON")


@pytest.mark.parametrize("scope", ["create", "media", "update", "delete", "draft"])
def test_mp_19__media_endpoint_knows_every_token(client_with, scope):
    client = client_with(scope)
    assert client.http.get("/media?q=source", headers=client.headers()).status_code == 200


def test_mp_19__media_endpoint_shows_nothing_to_a_token_that_only_tells_who_the_author_is(client_with):
    client = client_with("profile email")
    answer = client.http.get("/media?q=source", headers=client.headers())
    assert (answer.status_code, answer.json()["error"]) == (401, "insufficient_scope")


def test_mp_20__media_part_is_called_file_and_its_filename_is_ignored(site, jpeg):
    answer = site.upload(jpeg, name="file")
    assert answer.status_code == 201
    assert "photo.jpg" not in answer.headers["Location"]
    assert_refused(site.upload(jpeg, name="photo"), "file")


def test_mp_21__media_is_at_an_unguessable_address(site, jpeg):
    first, second = (site.upload(jpeg).headers["Location"] for _ in range(2))
    assert first != second
    assert len(first.rpartition("/")[2]) == 36


def test_mp_22__configuration(micropub):
    config = micropub.query("config").json()
    assert config["syndicate-to"] == []
    assert config["media-endpoint"].startswith("http")


def test_mp_23__source_with_and_without_properties(micropub):
    url = micropub.create(content="Text", category="a", name="Title")
    whole = micropub.query("source", url=url).json()
    assert whole["type"] == ["h-entry"]
    assert {"content", "category", "name", "published", "url"} <= set(whole["properties"])
    assert micropub.query("source", url=url, properties="name").json() == {"properties": {"name": ["Title"]}}
    assert micropub.source(url, "category", "unknown") == {"category": ["a"]}


def test_mp_24__source_has_html_as_html_and_text_as_text(micropub):
    html = micropub.create(content={"html": "<p>A <em>b</em></p>"})
    text = micropub.create(content="1 < 2 & <b>")
    assert micropub.source(html)["content"] == [{"html": "<p>A <em>b</em></p>"}]
    assert micropub.source(text)["content"] == ["1 < 2 & <b>"]
    assert "1 &lt; 2 &amp; &lt;b&gt;" in micropub.page(text).content.decode()


def test_mp_25__there_are_no_syndication_targets(micropub):
    """None are offered, so that none lacks its uid and name; a target that a client invents is no property."""
    url = micropub.create(content="Text", mp_syndicate_to="https://x.example/")
    assert "mp-syndicate-to" not in micropub.source(url)


def test_mp_26__query_is_appended_to_one_that_is_there(micropub):
    answer = micropub.http.get(f"{ENDPOINT}?site=1&q=config", headers=micropub.headers())
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "url",
    [
        "https://x.example/2026/11/a",
        "http://127.0.0.1:8000/",
        "http://127.0.0.1:8000/2026/11/unknown",
        "/2026/11/a",
        "no address",
        "http://[",
        "http://127.0.0.1:8000/%00",
    ],
)
def test_mp_27__unknown_url(micropub, url):
    micropub.create(content="A")
    assert_refused(micropub.query("source", url=url), "no post of yours")
    for action in ("delete", "undelete"):
        assert_refused(micropub.act(action, url), "no post of yours")
        assert_refused(micropub.form({"action": action, "url": url}), "no post of yours")
    assert_refused(micropub.update(url, replace={"content": ["x"]}), "no post of yours")


@pytest.mark.parametrize("q", ["", "nothing", "q" * 5000])
def test_mp_27__unknown_query(micropub, q):
    assert_refused(micropub.query(q), "config")


def test_mp_28__errors_are_json_with_their_words(micropub, client_with):
    assert_refused(Micropub("").query("config"), "token", status=401, error="unauthorized")
    assert_refused(Micropub("garbage").query("config"), "unknown", status=401, error="invalid_token")
    without = client_with("create").json({"action": "delete", "url": "http://127.0.0.1:8000/x"})
    assert_refused(without, "delete", status=401, error="insufficient_scope")
    assert_refused(micropub.form({"action": "frobnicate"}), "frobnicate")


def test_mp_29__token_has_at_least_one_scope(author):
    with pytest.raises(ValueError, match="scope"):
        issue_token(author, scope="")
    assert "create" in SCOPES


def test_mp_30__profile_page_names_the_endpoint(micropub, settings):
    paths = ("vernier.micropub.discovery.discovery_links",)
    settings.VERNIER_PAGES = {**settings.VERNIER_PAGES, "DISCOVERY": paths}
    page = micropub.page("http://127.0.0.1:8000/")
    assert '/micropub>; rel="micropub"' in page.headers.get("Link", "")
    assert 'rel="micropub"' in page.content.decode()


def test_mp_31__published_is_now_or_what_the_client_says(micropub):
    before = timezone.now()
    now = Post.objects.get(path__endswith=micropub.create(content="Now").rpartition("/")[2])
    assert before <= now.published_at <= timezone.now()
    later = micropub.create(content="Later", published="2126-11-30T12:00:00+01:00")
    assert micropub.source(later)["published"] == ["2126-11-30T12:00:00+01:00"]
    assert micropub.page(later).status_code == 404


def test_mp_32__text_has_the_direction_of_its_own(micropub):
    url = micropub.create(content="שלום", name="כותרת")
    assert micropub.page(url).content.decode().count('dir="auto"') >= 2


def test_mp_33__photo_elsewhere_is_linked_and_not_fetched(micropub, start_server):
    server = start_server()
    url = micropub.create(photo=server.url("/photo.jpg"))
    assert micropub.source(url)["photo"] == [server.url("/photo.jpg")]
    assert server.requests == []


def test_json__of_any_type_that_ends_in_json_is_no_form(micropub):
    body = json.dumps({"properties": {"content": ["x"]}})
    assert micropub.send(body, "application/json; charset=utf-8").status_code == 201
    for content_type in ("text/plain", "application/xml", ""):
        assert_refused(micropub.send(body, content_type), FORM)
