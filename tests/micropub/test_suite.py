"""The checks of the official server suite (micropub.rocks), by their numbers, with the default settings.

Those that need other settings, and the last word on all of them, are in `test_suite_settings.py`.
"""

from urllib.parse import urlsplit

import pytest

from vernier.media.models import Media
from vernier.posts.models import Post

pytestmark = pytest.mark.django_db
PHOTO = "https://micropub.example/media/sunset.jpg"
PHOTOS = [PHOTO, "https://micropub.example/media/city.jpg"]


def created(answer):
    """Return the address of the post that the answer acknowledges."""
    assert answer.status_code == 201, answer.content
    url = answer.headers["Location"]
    assert not set("&+% ") & set(url)
    return url


def changed(answer):
    assert answer.status_code in {200, 204}, answer.content


def test_100__form(micropub):
    url = created(micropub.form({"h": "entry", "content": "Micropub test of creating a basic h-entry"}))
    assert micropub.source(url)["content"] == ["Micropub test of creating a basic h-entry"]
    assert "Micropub test of creating a basic h-entry" in micropub.page(url).content.decode()


def test_101__form_with_two_categories(micropub):
    fields = [("h", "entry"), ("content", "Two"), ("category[]", "test1"), ("category[]", "test2")]
    url = created(micropub.form(fields))
    assert micropub.source(url)["category"] == ["test1", "test2"]


def test_104__form_with_a_photo_url(micropub):
    url = created(micropub.form({"h": "entry", "content": "A photo", "photo": PHOTO}))
    assert micropub.source(url)["photo"] == [PHOTO]
    assert PHOTO in micropub.page(url).content.decode()


def test_107__form_with_one_category_without_brackets(micropub):
    url = created(micropub.form({"h": "entry", "content": "One", "category": "test1"}))
    assert micropub.source(url)["category"] == ["test1"]


def test_200__json(micropub):
    content = {"type": ["h-entry"], "properties": {"content": ["Micropub test of creating with JSON"]}}
    assert micropub.source(created(micropub.json(content)))["content"] == content["properties"]["content"]


def test_201__json_with_two_categories(micropub):
    url = micropub.create(content="Two", category=["test1", "test2"])
    assert micropub.source(url)["category"] == ["test1", "test2"]


def test_202__json_with_html(micropub):
    html = "<p>This post has <b>bold</b> and <i>italic</i> text.</p>"
    url = micropub.create(content={"html": html})
    assert micropub.source(url)["content"] == [{"html": html}]
    assert "<b>bold</b> and <i>italic</i>" in micropub.page(url).content.decode()


def test_203__json_with_a_photo_url(micropub):
    url = micropub.create(content="A photo", photo=PHOTO)
    assert micropub.source(url)["photo"] == [PHOTO]
    assert PHOTO in micropub.page(url).content.decode()


def test_204__json_with_a_nested_object(micropub):
    place = {"name": ["Los Gorditos"], "latitude": [45.524330801154], "longitude": [-122.68068808051], "n": [12]}
    checkin = {"type": ["h-card"], "properties": place}
    url = micropub.create(published="2017-05-31T12:03:36-07:00", content="Lunch meeting", checkin=checkin)
    source = micropub.source(url)
    assert (source["checkin"], source["published"]) == ([checkin], ["2017-05-31T12:03:36-07:00"])


def test_205__json_with_alt_text(micropub):
    photo = {"value": PHOTO, "alt": "Photo of a sunset"}
    url = micropub.create(content="A photo", photo=photo)
    assert micropub.source(url)["photo"] == [photo]
    assert 'alt="Photo of a sunset"' in micropub.page(url).content.decode()


def test_206__json_with_two_photos(micropub):
    url = micropub.create(content="Two photos", photo=PHOTOS)
    assert micropub.source(url)["photo"] == PHOTOS
    page = micropub.page(url).content.decode()
    assert page.index(PHOTOS[0]) < page.index(PHOTOS[1])


def test_300__multipart_with_one_photo(site, post_form, source, jpeg):
    url = created(post_form([("photo", jpeg)], [("h", "entry"), ("content", "Nice sunset in Portland")]))
    properties = source(url)
    assert properties["content"] == ["Nice sunset in Portland"]
    with site.rows():
        stored = Media.objects.get(uses__post__path=urlsplit(url).path.strip("/"))
        assert properties["photo"] == [f"{site.url}/media/{stored.pk}"]


def test_301__multipart_with_two_photos(site, post_form, source, jpeg):
    url = created(post_form([("photo[]", jpeg), ("photo[]", jpeg + b"2")], [("h", "entry"), ("content", "Two")]))
    first, second = source(url)["photo"]
    with site.rows():
        known = [Media.objects.get(pk=photo.rpartition("/")[2]) for photo in (first, second)]
        assert [media.versions.get().byte_size for media in known] == [len(jpeg), len(jpeg) + 1]


def test_400__update_replaces(micropub):
    url = micropub.create(content="Before", category="kept")
    changed(micropub.update(url, replace={"content": ["After"]}))
    assert micropub.source(url, "content", "category") == {"content": ["After"], "category": ["kept"]}


def test_401__update_adds_a_value(micropub):
    url = micropub.create(content="Adds", category="test1")
    changed(micropub.update(url, add={"category": ["test2"]}))
    assert micropub.source(url)["category"] == ["test1", "test2"]


def test_402__update_adds_a_property(micropub):
    url = micropub.create(content="Adds")
    changed(micropub.update(url, add={"category": ["test1"]}))
    assert micropub.source(url)["category"] == ["test1"]


def test_403__update_deletes_a_value(micropub):
    url = micropub.create(content="Deletes", category=["test1", "test2"])
    changed(micropub.update(url, delete={"category": ["test2"]}))
    assert micropub.source(url)["category"] == ["test1"]


def test_404__update_deletes_a_property(micropub):
    url = micropub.create(content="Deletes", category=["test1", "test2"])
    changed(micropub.update(url, delete=["category"]))
    assert "category" not in micropub.source(url)


@pytest.mark.parametrize("replace", ["This is not a valid update", {"content": "neither"}, ["content"], None])
def test_405__update_that_is_malformed(micropub, replace):
    url = micropub.create(content="Before")
    assert micropub.update(url, replace=replace).status_code == 400
    assert micropub.source(url)["content"] == ["Before"]


def test_500__delete_by_form(micropub):
    url = micropub.create(content="Delete me")
    changed(micropub.form({"action": "delete", "url": url}))
    assert micropub.page(url).status_code == 410


def test_501__delete_by_json(micropub):
    url = micropub.create(content="Delete me")
    changed(micropub.act("delete", url))
    assert micropub.page(url).status_code == 410


def test_502__undelete_by_form(micropub):
    url = micropub.create(content="Come back")
    changed(micropub.form({"action": "delete", "url": url}))
    changed(micropub.form({"action": "undelete", "url": url}))
    assert "Come back" in micropub.page(url).content.decode()


def test_503__undelete_by_json(micropub):
    url = micropub.create(content="Come back")
    changed(micropub.act("delete", url))
    changed(micropub.act("undelete", url))
    assert "Come back" in micropub.page(url).content.decode()


def test_600__configuration(micropub):
    answer = micropub.query("config")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.content.startswith(b"{")


def test_601__syndication_targets(micropub):
    assert micropub.query("syndicate-to").json() == {"syndicate-to": []}


def test_602__source(micropub):
    fields = [("h", "entry"), ("content", "Test of querying"), ("category[]", "micropub"), ("category[]", "test")]
    answer = micropub.query("source", url=created(micropub.form(fields))).json()
    assert answer["type"] == ["h-entry"]
    assert answer["properties"]["content"] == ["Test of querying"]
    assert answer["properties"]["category"] == ["micropub", "test"]


def test_603__source_of_some_properties(micropub):
    url = micropub.create(content="Test of querying", category=["micropub", "test"])
    answer = micropub.query("source", url=url, **{"properties[]": ["content", "category"]}).json()
    assert answer == {"properties": {"content": ["Test of querying"], "category": ["micropub", "test"]}}


def test_800__token_in_the_header(micropub):
    created(micropub.form({"h": "entry", "content": "Header"}))


def test_801__token_in_the_body(micropub):
    created(nobody(micropub).form({"h": "entry", "content": "Body", "access_token": micropub.token}))


def test_802__token_is_not_stored(micropub):
    url = created(nobody(micropub).form({"h": "entry", "content": "Body", "access_token": micropub.token}))
    assert micropub.source(url)["content"] == ["Body"]
    assert "access_token" not in micropub.source(url)
    assert micropub.token not in str(Post.objects.values().get())


def test_803__no_token(micropub):
    answer = nobody(micropub).form({"h": "entry", "content": "Nobody"})
    assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="vernier"'
    assert not Post.objects.exists()


def test_804__token_without_the_scope(client_with):
    answer = client_with("media update").form({"h": "entry", "content": "Not allowed"})
    assert (answer.status_code, answer.json()["error"]) == (401, "insufficient_scope")
    assert 'scope="create"' in answer.headers["WWW-Authenticate"]
    assert not Post.objects.exists()


def test_805__token_twice_is_refused_where_it_is_strict(micropub, settings):
    settings.VERNIER_MEDIA_API = {"STRICT": True}
    answer = micropub.form({"h": "entry", "content": "Twice", "access_token": micropub.token})
    assert (answer.status_code, answer.content) == (400, b"")
    assert "Content-Type" not in answer.headers
    assert 'error="invalid_request"' in answer.headers["WWW-Authenticate"]
    assert not Post.objects.exists()


def test_token__twice_is_accepted_by_default(micropub):
    created(micropub.form({"h": "entry", "content": "Twice", "access_token": micropub.token}))


@pytest.mark.parametrize("strict", [False, True])
def test_token__that_differs_is_always_refused(micropub, client_with, settings, strict):
    settings.VERNIER_MEDIA_API = {"STRICT": strict}
    answer = micropub.form({"h": "entry", "content": "Two", "access_token": client_with().token})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    assert not Post.objects.exists()


def test_feature_1__profile_page_names_the_endpoints(micropub, settings):
    """The login that the suite begins with is IndieAuth's."""
    paths = [f"vernier.{app}.discovery.discovery_links" for app in ("indieauth", "micropub")]
    settings.VERNIER_PAGES = {**settings.VERNIER_PAGES, "DISCOVERY": paths}
    page = micropub.page("http://127.0.0.1:8000/")
    for rel in ("authorization_endpoint", "token_endpoint", "micropub"):
        assert f'rel="{rel}"' in page.headers["Link"]
        assert f'rel="{rel}"' in page.content.decode()


def nobody(micropub):
    """Return a client without a token."""
    return type(micropub)("")
