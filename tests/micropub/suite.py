"""The 36 checks of the official server suite (micropub.rocks) in our own words, as requests to a running server.

Like the suite they follow no redirect. 802 is as corrected in its pull request 124: one token only.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass

import httpx
from PIL import Image

PHOTO = "https://photos.example/sunset.jpg"
CHANGED = {200, 201, 204}


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A Micropub endpoint with a token that may do everything, and one that may only upload."""

    url: str
    token: str
    media_token: str

    def send(self, *, token: str | None = None, **request) -> httpx.Response:
        headers = {} if token == "" else {"Authorization": f"Bearer {token or self.token}"}
        return httpx.post(self.url, headers=headers, timeout=60, **request)

    def ask(self, query) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        return httpx.get(self.url, params=query, headers=headers, timeout=60)

    def create(self, **request) -> str:
        answer = self.send(**request)
        assert answer.status_code in {201, 202}, answer.text
        return answer.headers["Location"]

    def create_json(self, **properties) -> str:
        return self.create(json={"type": ["h-entry"], "properties": properties})

    def act(self, action: str, url: str, **more) -> None:
        answer = self.send(json={"action": action, "url": url, **more})
        assert answer.status_code in CHANGED, answer.text

    def source(self, url: str, *names: str) -> dict:
        answer = self.ask([("q", "source"), ("url", url), *(("properties[]", name) for name in names)])
        assert answer.status_code == 200, answer.text
        return answer.json()["properties"]


type Check = Callable[[Endpoint], object]
CHECKS: dict[str, Check] = {}


def check(number: str) -> Callable[[Check], Check]:
    def add(function: Check) -> Check:
        CHECKS[number] = function
        return function

    return add


def fields(content: str, **more) -> dict:
    return {"data": {"h": "entry", "content": content, **more}}


@check("100")
def form(to):
    url = to.create(**fields("Creating a basic h-entry"))
    assert "Creating a basic h-entry" in httpx.get(url).text


@check("101")
def form_categories(to):
    url = to.create(**fields("Two categories", **{"category[]": ["test1", "test2"]}))
    assert to.source(url)["category"] == ["test1", "test2"]


@check("104")
def form_photo(to):
    assert PHOTO in httpx.get(to.create(**fields("A photo", photo=PHOTO))).text


@check("107")
def form_category(to):
    assert to.source(to.create(**fields("One category", category="test1")))["category"] == ["test1"]


@check("200")
def json_create(to):
    assert "With JSON" in httpx.get(to.create_json(content=["With JSON"])).text


@check("201")
def json_categories(to):
    url = to.create_json(content=["JSON, two"], category=["test1", "test2"])
    assert to.source(url)["category"] == ["test1", "test2"]


@check("202")
def json_html(to):
    html = "<p>This is <b>bold</b> and <i>italic</i>.</p>"
    assert "<b>bold</b> and <i>italic</i>" in httpx.get(to.create_json(content=[{"html": html}])).text


@check("203")
def json_photo(to):
    assert PHOTO in httpx.get(to.create_json(content=["JSON photo"], photo=[PHOTO])).text


@check("204")
def json_nested(to):
    place = {"name": ["Los Gorditos"], "latitude": [45.524330801154], "longitude": [-122.68068808051]}
    checkin = [{"type": ["h-card"], "properties": place}]
    published = ["2017-05-31T12:03:36-07:00"]
    url = to.create_json(published=published, content=["Lunch meeting"], checkin=checkin)
    assert to.source(url, "checkin", "published") == {"checkin": checkin, "published": published}


@check("205")
def json_alt(to):
    url = to.create_json(content=["With alt"], photo=[{"value": PHOTO, "alt": "Photo of a sunset"}])
    assert 'alt="Photo of a sunset"' in httpx.get(url).text


@check("206")
def json_photos(to):
    page = httpx.get(to.create_json(content=["Two"], photo=[PHOTO, PHOTO.replace("sunset", "city")])).text
    assert "sunset.jpg" in page
    assert "city.jpg" in page


@check("300")
def multipart_photo(to):
    url = to.create(**fields("Nice sunset"), files={"photo": ("sunset.jpg", image("JPEG", 1), "image/jpeg")})
    assert len(to.source(url)["photo"]) == 1


@check("301")
def multipart_photos(to):
    files = [("photo[]", (f"{shade}.jpg", image("JPEG", shade), "image/jpeg")) for shade in (2, 3)]
    assert len(to.source(to.create(**fields("Nice city"), files=files))["photo"]) == 2


@check("400")
def update_replace(to):
    url = to.create_json(content=["This post will be updated"])
    to.act("update", url, replace={"content": ["This is the updated text"]})
    assert "This is the updated text" in httpx.get(url).text


@check("401")
def update_add(to):
    url = to.create_json(content=["Adds a category"], category=["test1"])
    to.act("update", url, add={"category": ["test2"]})
    assert to.source(url)["category"] == ["test1", "test2"]


@check("402")
def update_add_property(to):
    url = to.create_json(content=["Adds categories"])
    to.act("update", url, add={"category": ["test1"]})
    assert to.source(url)["category"] == ["test1"]


@check("403")
def update_delete_value(to):
    url = to.create_json(content=["Deletes a category"], category=["test1", "test2"])
    to.act("update", url, delete={"category": ["test2"]})
    assert to.source(url)["category"] == ["test1"]


@check("404")
def update_delete_property(to):
    url = to.create_json(content=["Deletes categories"], category=["test1", "test2"])
    to.act("update", url, delete=["category"])
    assert "category" not in to.source(url)


@check("405")
def update_malformed(to):
    url = to.create_json(content=["Not updated"])
    answer = to.send(json={"action": "update", "url": url, "replace": "This is not a valid update request."})
    assert answer.status_code == 400


@check("500")
def delete_by_form(to):
    url = to.create(**fields("Deleted by form"))
    assert to.send(data={"action": "delete", "url": url}).status_code in CHANGED
    assert httpx.get(url).status_code == 410


@check("501")
def delete_by_json(to):
    url = to.create_json(content=["Deleted by JSON"])
    to.act("delete", url)
    assert httpx.get(url).status_code == 410


@check("502")
def undelete_by_form(to):
    url = to.create(**fields("Undeleted by form"))
    for action in ("delete", "undelete"):
        assert to.send(data={"action": action, "url": url}).status_code in CHANGED
    assert "Undeleted by form" in httpx.get(url).text


@check("503")
def undelete_by_json(to):
    url = to.create_json(content=["Undeleted by JSON"])
    for action in ("delete", "undelete"):
        to.act(action, url)
    assert "Undeleted by JSON" in httpx.get(url).text


@check("600")
def configuration(to):
    answer = to.ask({"q": "config"})
    assert answer.status_code == 200
    assert answer.text.startswith("{")


@check("601")
def syndication(to):
    assert isinstance(to.ask({"q": "syndicate-to"}).json()["syndicate-to"], list)


@check("602")
def source_of_all(to):
    url = to.create(**fields("Test of querying", **{"category[]": ["micropub", "test"]}))
    properties = to.source(url)
    assert properties["content"][0] == "Test of querying"
    assert properties["category"] == ["micropub", "test"]


@check("603")
def source_of_some(to):
    url = to.create(**fields("Test of querying some", **{"category[]": ["micropub", "test"]}))
    expected = {"content": ["Test of querying some"], "category": ["micropub", "test"]}
    assert to.source(url, "content", "category") == expected


@check("700")
def media_jpeg(to):
    assert_media(to, "JPEG", "image/jpeg")


@check("701")
def media_png(to):
    assert_media(to, "PNG", "image/png")


@check("702")
def media_gif(to):
    assert_media(to, "GIF", "image/gif")


@check("800")
def token_in_header(to):
    to.create(**fields("Token in the header"))


@check("801")
def token_in_body(to):
    to.create(token="", **fields("Token in the body", access_token=to.token))


@check("802")
def token_not_stored(to):
    properties = to.source(to.create(token="", **fields("Token not stored", access_token=to.token)))
    assert properties["content"] == ["Token not stored"]
    assert "access_token" not in properties


@check("803")
def no_token(to):
    assert_error(to.send(token="", **fields("No token")), 401, "unauthorized")


@check("804")
def no_scope(to):
    assert_error(to.send(token=to.media_token, **fields("No scope")), 401, "insufficient_scope")


@check("805")
def two_tokens(to):
    assert_error(to.send(**fields("Two tokens", access_token=to.token)), 400, "bad request")


def failing(to: Endpoint) -> dict[str, str]:
    """Run every check and return what was wrong with those that do not hold."""
    wrong = {}
    for number, function in CHECKS.items():
        try:
            function(to)
        except AssertionError as error:
            wrong[number] = str(error)
    return wrong


def image(image_format: str, shade: int) -> bytes:
    """An image of the format, animated where the suite's is."""
    frames = [Image.new("RGB", (320, 240), (shade, 80, value)) for value in (0, 100, 200)]
    out = io.BytesIO()
    more = {"save_all": True, "append_images": frames[1:]} if image_format == "GIF" else {}
    frames[0].save(out, image_format, **more)
    return out.getvalue()


def assert_media(to: Endpoint, image_format: str, media_type: str) -> None:
    endpoint = to.ask({"q": "config"}).json()["media-endpoint"]
    files = {"file": ("upload", image(image_format, 9), media_type)}
    answer = httpx.post(endpoint, files=files, headers={"Authorization": f"Bearer {to.token}"}, timeout=60)
    assert answer.status_code == 201, answer.text
    served = httpx.get(answer.headers["Location"], timeout=60)
    assert (served.status_code, served.headers["Content-Type"]) == (200, media_type)


def assert_error(answer: httpx.Response, status: int, code: str) -> None:
    """What the suite accepts: the status, and the code if the body is JSON."""
    assert answer.status_code == status
    if "application/json" in answer.headers.get("Content-Type", "") and answer.text.startswith("{"):
        assert json.loads(answer.text)["error"] == code
