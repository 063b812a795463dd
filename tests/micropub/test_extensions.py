"""Extensions of Micropub that clients use, by number (MX)."""

from urllib.parse import urlencode

import httpx
import pytest
from django.utils import timezone

from tests.media_api.factory import make_media
from tests.micropub.client import FORM
from tests.micropub.test_specification import assert_refused
from vernier.media.models import Media
from vernier.posts.models import Post

pytestmark = pytest.mark.django_db
NO_SCOPE = {"status": 401, "error": "insufficient_scope"}
PHOTOS = [f"https://photos.example/{name}.jpg" for name in "abc"]


def media_query(client, **parameters):
    return client.http.get("/media", parameters, headers=client.headers())


def media_action(client, **fields):
    return client.http.post("/media", fields, content_type="application/json", headers=client.headers())


def url_of(media):
    return f"http://127.0.0.1:8000/media/{media.pk}"


def test_mx_1__draft_is_for_its_author_only(micropub):
    url = micropub.create(content="Not yet", post_status="draft")
    assert micropub.page(url).status_code == 404
    assert "Not yet" not in micropub.page("http://127.0.0.1:8000/").content.decode()
    assert micropub.source(url)["post-status"] == ["draft"]
    micropub.update(url, replace={"post-status": ["published"]})
    assert micropub.page(url).status_code == 200


@pytest.mark.parametrize("status", ["Published", "private", "queued", 1, {"a": 1}])
def test_mx_1__unknown_status_publishes_nothing(micropub, status):
    assert_refused(micropub.json({"properties": {"content": ["x"], "post-status": [status]}}), "post-status", "draft")
    assert not Post.objects.exists()


def test_mx_2__visibility(micropub):
    urls = {name: micropub.create(content=name, visibility=name) for name in ("public", "unlisted", "private")}
    assert {name: micropub.page(url).status_code for name, url in urls.items()} == {
        "public": 200,
        "unlisted": 200,
        "private": 404,
    }
    home = micropub.page("http://127.0.0.1:8000/").content.decode()
    assert [url.rpartition("/")[2] in home for url in urls.values()] == [True, False, False]
    assert micropub.query("config").json()["visibility"] == ["public", "unlisted", "private"]
    assert_refused(micropub.json({"properties": {"content": ["x"], "visibility": ["friends"]}}), "visibility")


def test_mx_3__slug_is_a_wish(micropub):
    first = micropub.create(content="One", mp_slug="My Walk: ü/../x")
    second = micropub.create(content="Two", mp_slug="My Walk: ü/../x")
    by_form = micropub.form({"content": "Three", "mp-slug": "by-form"}).headers["Location"]
    assert first.endswith("/my-walk-ux")
    assert second.endswith("/my-walk-ux-2")
    assert by_form.endswith("/by-form")
    assert micropub.source(first)["content"] == ["One"]
    assert "mp-slug" not in micropub.source(first)


def test_mx_4__syndication_is_a_command_and_no_property(micropub):
    fields = [("content", "x"), ("mp-syndicate-to[]", "https://a.example/"), ("mp-syndicate-to[]", "b")]
    url = micropub.form(fields).headers["Location"]
    assert not [name for name in micropub.source(url) if "syndicat" in name]


def test_mx_5__alt_texts_keep_their_places(micropub):
    fields = [("photo[]", url) for url in PHOTOS] + [("mp-photo-alt[]", alt) for alt in ("First", "", "Third")]
    expected = [{"value": PHOTOS[0], "alt": "First"}, PHOTOS[1], {"value": PHOTOS[2], "alt": "Third"}]
    by_form = micropub.form([("content", "x"), *fields]).headers["Location"]
    by_json = micropub.create(content="x", photo=PHOTOS, mp_photo_alt=["First", "", "Third"])
    assert micropub.source(by_form)["photo"] == micropub.source(by_json)["photo"] == expected


def test_mx_5__alt_of_the_photo_itself_comes_first(micropub):
    url = micropub.create(photo=[{"value": PHOTOS[0], "alt": "Own"}, PHOTOS[1]], mp_photo_alt=["Beside", "Second"])
    assert [photo["alt"] for photo in micropub.source(url)["photo"]] == ["Own", "Second"]
    micropub.update(url, replace={"mp-photo-alt": ["New"]})
    assert [photo["alt"] for photo in micropub.source(url)["photo"]] == ["New", "Second"]


def test_mx_5__alt_of_an_empty_photo_goes_with_it(micropub):
    fields = [("photo", ""), ("photo", PHOTOS[0]), ("mp-photo-alt", "Nothing"), ("mp-photo-alt", "Something")]
    url = micropub.form([("content", "x"), *fields]).headers["Location"]
    assert micropub.source(url)["photo"] == [{"value": PHOTOS[0], "alt": "Something"}]


def test_mx_5__alt_of_an_input_without_a_file_goes_with_it(site, source, jpeg):
    files = [(b'name="photo"; filename=""', b""), (b'name="photo"; filename="b.jpg"', jpeg)]
    alts = [(b'name="mp-photo-alt"', alt) for alt in (b"Nothing", b"Something")]
    parts = [b"--x\r\nContent-Disposition: form-data; %b\r\n\r\n%b\r\n" % part for part in (*files, *alts)]
    headers = {"Authorization": f"Bearer {site.token}", "Content-Type": "multipart/form-data; boundary=x"}
    answer = httpx.post(f"{site.url}/micropub", content=b"".join([*parts, b"--x--\r\n"]), headers=headers)
    (photo,) = source(answer.headers["Location"])["photo"]
    assert photo["alt"] == "Something"


def test_mx_5__alt_texts_of_files_and_urls_mixed(post_form, source, jpeg):
    alts = [("mp-photo-alt", alt) for alt in ("A link", "", "A file")]
    fields = [("photo", PHOTOS[0]), ("photo", PHOTOS[1]), *alts]
    url = post_form([("photo", jpeg)], fields).headers["Location"]
    first, second, third = source(url)["photo"]
    assert (first, second) == ({"value": PHOTOS[0], "alt": "A link"}, PHOTOS[1])
    assert third["alt"] == "A file"


def test_mx_6__source_lists_the_authors_posts_newest_first(micropub, stranger):
    stranger.create(content="Not mine")
    urls = [micropub.create(content=text) for text in ("One", "Two")]
    urls.append(micropub.create(content="Three", post_status="draft"))
    answer = micropub.query("source").json()
    assert [item["properties"]["url"] for item in answer["items"]] == [[url] for url in reversed(urls)]
    assert {tuple(item["type"]) for item in answer["items"]} == {("h-entry",)}
    micropub.create(name="Title", content="Article")
    assert [item["name"] for item in micropub.items(**{"post-type": "article"})] == [["Title"]]


def test_mx_7__lists_have_limit_offset_and_filter(micropub):
    for number in range(5):
        micropub.create(content=f"Post number {number}")
    assert [item["content"] for item in micropub.items(limit=2, offset=1)] == [["Post number 3"], ["Post number 2"]]
    assert micropub.items(limit=0) == []
    assert len(micropub.items(limit=100000)) == 5
    assert [item["content"] for item in micropub.items(filter="NUMBER 4")] == [["Post number 4"]]
    assert [list(item) for item in micropub.items(limit=1, properties="content")] == [["content"]]


def test_mx_7__list_of_many_takes_no_more_queries(micropub, author, django_assert_max_num_queries):
    for number in range(12):
        micropub.create(content=str(number), category=["a", "b"], photo=[*PHOTOS, url_of(make_media(author))])
    with django_assert_max_num_queries(6):
        assert len(micropub.items()) == 12


def read_pages(ask, **parameters):
    """Follow `paging.after` to the end, and return the lists of the pages and the cursors of the first."""
    answers = [ask(q="source", limit=2, **parameters).json()]
    while after := answers[-1].get("paging", {}).get("after"):
        answers.append(ask(q="source", limit=2, after=after, **parameters).json())
    return [answer["items"] for answer in answers], answers[0].get("paging")


def test_mx_7__pages_follow_each_other_whatever_is_posted_meanwhile(micropub):
    urls = [micropub.create(content=f"Post {number}") for number in range(5)]
    pages, first = read_pages(micropub.query)
    assert [[item["properties"]["url"][0] for item in page] for page in pages] == [
        [urls[4], urls[3]],
        [urls[2], urls[1]],
        [urls[0]],
    ]
    assert micropub.query("source", before=first["before"]).json() == {"items": []}
    newer = [micropub.create(content=f"Newer {number}") for number in range(3)]
    back = micropub.query("source", before=first["before"], limit=2).json()
    assert [item["properties"]["url"][0] for item in back["items"]] == [newer[1], newer[0]]
    assert micropub.items(after=back["paging"]["after"], limit=1)[0]["url"] == [urls[4]]
    assert micropub.items(before=back["paging"]["before"])[0]["url"] == [newer[2]]


def test_mx_7__pages_of_a_filtered_list_and_of_posts_that_are_gone(micropub):
    urls = [micropub.create(content=f"{'Even' if number % 2 == 0 else 'Odd'} {number}") for number in range(8)]
    pages, first = read_pages(micropub.query, filter="even")
    assert [len(page) for page in pages] == [2, 2]
    micropub.act("delete", urls[4])
    rest = micropub.query("source", filter="even", after=first["after"]).json()
    assert [item["properties"]["content"] for item in rest["items"]] == [["Even 2"], ["Even 0"]]
    assert set(rest["paging"]) == {"before"}


def test_mx_7__pages_of_uploads(micropub, author):
    media = [make_media(author) for _ in range(5)]
    pages, first = read_pages(lambda **parameters: media_query(micropub, **parameters))
    assert [item["url"] for page in pages for item in page] == [url_of(one) for one in reversed(media)]
    newer = make_media(author)
    back = media_query(micropub, q="source", before=first["before"]).json()
    assert [item["url"] for item in back["items"]] == [url_of(newer)]


@pytest.mark.parametrize(
    "cursor", ["x", "20261201T000000.000000Z", "~", "2026~1", "20261201T000000.000000Z~\N{SNOWMAN}"]
)
def test_mx_7__bad_cursor(micropub, cursor):
    for name in ("before", "after"):
        assert_refused(micropub.query("source", **{name: cursor}), name)
        assert media_query(micropub, q="source", **{name: cursor}).status_code == 400
    micropub.create(content="x")
    paging = micropub.query("source").json()["paging"]
    assert_refused(micropub.query("source", before=paging["before"], after=paging["before"]), "before", "after")


@pytest.mark.parametrize("q", ["source", "category"])
@pytest.mark.parametrize("value", ["-1", "x", "1.5", "٣", "9" * 30])
def test_mx_7__bad_limit_or_offset(micropub, q, value):
    assert_refused(micropub.query(q, limit=value), "limit")
    assert_refused(micropub.query(q, offset=value), "offset")


def test_mx_8__categories_are_those_of_the_author(micropub, stranger):
    stranger.create(content="x", category="theirs")
    micropub.create(content="1", category=["walks", "Äpfel"])
    micropub.create(content="2", category=["walks"])
    deleted = micropub.create(content="3", category="gone")
    micropub.act("delete", deleted)
    assert micropub.query("category").json() == {"categories": ["walks", "Äpfel"]}
    for name in ("filter", "search"):
        assert micropub.query("category", **{name: "äPF"}).json() == {"categories": ["Äpfel"]}
    assert micropub.query("category", limit=1, offset=1).json() == {"categories": ["Äpfel"]}


def test_mx_9__there_are_no_channels(micropub):
    assert micropub.query("channel").json() == {"channels": []}
    assert micropub.query("config").json()["channels"] == []
    assert "mp-channel" not in micropub.source(micropub.create(content="x", mp_channel="default"))


def test_mx_10__every_query_that_the_configuration_lists_answers_alone(micropub):
    config = micropub.query("config").json()
    assert {"config", "source", "media-endpoint", "syndicate-to", "category", "channel", "post-types"} <= set(
        config["q"]
    )
    for name in config["q"]:
        assert micropub.query(name).status_code == 200
    assert micropub.query("media-endpoint").json() == {"media-endpoint": config["media-endpoint"]}
    assert micropub.query("post-types").json() == {"post-types": config["post-types"]}
    assert {"note", "photo", "reply"} <= {kind["type"] for kind in config["post-types"]}
    assert all(kind["name"] and kind["properties"] for kind in config["post-types"])


def test_mx_11__media_source_lists_uploads_with_their_states(micropub, author, other):
    make_media(other)
    media = [make_media(author, status=status) for status in ("ready", "failed", "pending", "processing")]
    gone = make_media(author)
    Media.objects.filter(pk=gone.pk).update(deleted_at=timezone.now(), current=None)
    items = media_query(micropub, q="source").json()["items"]
    assert [item["url"] for item in items] == [url_of(one) for one in reversed(media)]
    assert [item["state"] for item in items] == ["processing", "processing", "failed", "ready"]
    assert (items[-1]["width"], items[-1]["height"], items[-1]["mime_type"]) == (400, 300, "image/jpeg")
    assert "width" not in items[0]
    assert [item["url"] for item in media_query(micropub, q="source", limit=1, offset=1).json()["items"]] == [
        url_of(media[2])
    ]


def test_mx_11__media_last_is_the_newest_that_has_not_failed(micropub, author):
    assert media_query(micropub, q="last").json() == {}
    newest = make_media(author, status="pending")
    make_media(author, status="failed")
    assert media_query(micropub, q="last").json() == {"url": url_of(newest)}


def test_mx_11__media_queries_need_a_token(micropub, stranger, author):
    make_media(author)
    assert micropub.http.get("/media?q=source").status_code == 401
    assert media_query(stranger, q="source").json() == {"items": []}
    assert_refused(media_query(micropub, q="config"), "source", "last")
    assert_refused(media_query(micropub, q="source", limit="x"), "limit")


def test_mx_12__media_is_deleted_by_an_action(micropub, author):
    by_form, by_json = make_media(author), make_media(author)
    form = {"action": "delete", "url": url_of(by_form)}
    for _ in range(2):
        answer = micropub.http.post("/media", urlencode(form), content_type=FORM, headers=micropub.headers())
        assert (answer.status_code, answer.content) == (204, b"")
        assert media_action(micropub, action="delete", url=url_of(by_json)).status_code == 204
    assert not Media.objects.live().exists()
    assert micropub.http.get(f"/media/{by_form.pk}").status_code == 404


def test_mx_12__media_of_others_is_not_deleted(micropub, stranger, client_with, author):
    media = make_media(author)
    for url in (url_of(media), "https://x.example/media/1", "http://127.0.0.1:8000/", "http://["):
        assert_refused(media_action(stranger, action="delete", url=url), "no file of yours")
    uploader = client_with("media")
    assert_refused(media_action(uploader, action="delete", url=url_of(media)), **NO_SCOPE)
    form = urlencode({"action": "delete", "url": url_of(media)})
    assert_refused(uploader.http.post("/media", form, content_type=FORM, headers=uploader.headers()), **NO_SCOPE)
    assert_refused(media_action(micropub, action="rename", url=url_of(media)), "rename", "delete")
    assert_refused(media_action(micropub, action="delete"), "url")
    assert_refused(media_action(micropub, url=url_of(media)), "missing", "multipart/form-data")
    assert Media.objects.live().count() == 1


def test_mx_12__media_delete_with_its_token_twice_is_refused_where_it_is_strict(micropub, author, settings):
    media = make_media(author)
    form = urlencode({"action": "delete", "url": url_of(media), "access_token": micropub.token})
    settings.VERNIER_MEDIA_API = {"STRICT": True}
    answer = micropub.http.post("/media", form, content_type=FORM, headers=micropub.headers())
    assert (answer.status_code, answer.content) == (400, b"")
    assert Media.objects.live().exists()


def test_mx_12__media_delete_reaches_the_view_over_http(site, jpeg):
    url = site.upload(jpeg).headers["Location"]
    answer = httpx.post(f"{site.url}/media", data={"action": "delete", "url": url}, headers=site.headers())
    assert answer.status_code == 204
    assert httpx.post(f"{site.url}/media", content=b"x", headers=site.headers()).status_code == 400
    assert httpx.post(f"{site.url}/media", json={"action": "delete", "url": url}).status_code == 401


@pytest.mark.parametrize("scope", ["profile", "media"])
def test_mx_6__posts_are_not_read_by_a_token_without_a_scope_for_posts(micropub, client_with, scope):
    url = micropub.create(content="Unpublished", post_status="draft")
    client = client_with(scope)
    answers = [client.query("source"), client.query("source", url=url), client.query("category")]
    assert [answer.json()["error"] for answer in answers] == ["insufficient_scope"] * 3
    assert client.query("config").status_code == 200


def test_mx_13__token_with_the_scope_draft_publishes_nothing(client_with):
    drafts, both = client_with("draft"), client_with("create update draft")
    for client in (drafts, both):
        url = client.create(content=f"By {client.token}", post_status="published")
        assert client.source(url)["post-status"] == ["draft"]
    both.update(url, replace={"post-status": ["published"], "content": ["Changed"]})
    assert both.source(url, "post-status", "content") == {"post-status": ["draft"], "content": ["Changed"]}
    assert drafts.act("delete", url).status_code == 401


def test_mx_13__deleted_post_is_seen_by_those_who_may_undelete(micropub, client_with):
    url = micropub.create(content="Text")
    micropub.act("delete", url)
    assert micropub.source(url, "content") == {"content": ["Text"]}
    assert "deleted" in micropub.source(url)
    assert micropub.items() == []
    assert_refused(client_with("create").query("source", url=url), "deleted")
    assert_refused(micropub.update(url, replace={"content": ["x"]}), "deleted")


def test_mx_14__commands_of_other_servers_are_ignored(micropub):
    fields = {"h": "entry", "mp-type": "note", "mp-destination": "https://x.example/", "content": "x"}
    source = micropub.source(micropub.form(fields).headers["Location"])
    assert not [name for name in source if name.startswith("mp-")]


def test_mx_15__upload_is_answered_with_the_address_in_json_too(site, jpeg):
    answer = site.upload(jpeg)
    assert answer.status_code == 201
    assert answer.json() == {"url": answer.headers["Location"]}


def test_mx_16__scripts_of_other_sites_may_use_both_endpoints(micropub):
    for path in ("/micropub", "/media"):
        preflight = micropub.http.options(path, headers={"Origin": "https://app.example"})
        assert preflight.status_code == 204
        assert preflight.headers["Access-Control-Allow-Origin"] == "*"
        allowed = preflight.headers["Access-Control-Allow-Headers"]
        assert all(name in allowed for name in ("Authorization", "Content-Type", "Idempotency-Key"))
        assert {"GET", "POST"} <= set(preflight.headers["Access-Control-Allow-Methods"].split(", "))
    for answer in (micropub.form({"content": "x"}), micropub.form({"action": "x"}), micropub.http.get("/micropub")):
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert {"Location", "Link"} <= set(answer.headers["Access-Control-Expose-Headers"].split(", "))
        assert "Access-Control-Allow-Credentials" not in answer.headers
