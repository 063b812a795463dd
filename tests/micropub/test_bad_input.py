"""Whatever is sent: an answer in JSON that says what was wrong, and nothing changed."""

import json
from datetime import timedelta
from urllib.parse import quote

import httpx
import pytest
from django.utils import timezone

from tests.micropub.client import FORM, Micropub
from tests.micropub.test_specification import assert_refused
from vernier.authors.models import AccessToken, issue_token
from vernier.posts.models import Post

pytestmark = pytest.mark.django_db
JSON = "application/json"


def nested(depth):
    return b'{"properties": {"content": ["x"], "x": [' + b"[" * depth + b"]" * depth + b"]}}"


def content_of(text):
    return b'{"properties": {"content": [' + text + b"]}}"


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b" ", "JSON"),
        (b"{", "JSON"),
        (b"\xff\xfe{}", "UTF-8"),
        (b"[]", "a list"),
        (b'"text"', "a text"),
        (b"null", "null"),
        (b"1", "a number"),
        (b"true", "true or false"),
        (b"{}", "properties"),
        (b'{"properties": []}', "a list"),
        (b'{"properties": {"content": "x"}}', "a text"),
        (b'{"properties": {"content": ["x"], "content": ["y"]}}', "twice"),
        (b'{"type": "h-card", "properties": {"content": ["x"]}}', "h-entry"),
        (b'{"type": [{}], "properties": {"content": ["x"]}}', "h-entry"),
        (content_of(b'"\\u0000"'), "NUL"),
        (content_of(b'"\\ud800"'), "surrogate"),
        (b'{"properties": {"content": ["x"], "\\u0000": ["y"]}}', "NUL"),
        (content_of(b"NaN"), "NaN"),
        (content_of(b"-Infinity"), "Infinity"),
        (content_of(b"1e999"), "too large"),
        (content_of(b"9" * 5000), "JSON"),
        (content_of(b"true"), "content"),
        (content_of(b'{"html": 1}'), "HTML"),
        (content_of(b'{"value": []}'), "content"),
        (nested(40), "nested"),
        (nested(200_000), "nested"),
        (json.dumps({"properties": {f"p{n}": ["x"] for n in range(1000)}}).encode(), "200"),
        (json.dumps({"properties": {"content": ["x"], **{f"mp-{n}": ["x"] for n in range(1000)}}}).encode(), "200"),
        (json.dumps({"properties": {"content": ["x"], "x": ["y"] * 1001}}).encode(), "1000"),
        (b'{"properties": {"photo": ["javascript:alert(1)"]}}', "http"),
        (b'{"properties": {"photo": [{"alt": "x"}]}}', "http"),
        (b'{"properties": {"photo": [["http://x.example/"]]}}', "photo"),
        (b'{"properties": {"photo": ["http://x.example/"], "mp-photo-alt": [1]}}', "mp-photo-alt"),
        (b'{"properties": {"content": ["x"], "mp-slug": [{}]}}', "mp-slug"),
        (b'{"properties": {"category": [{"a": 1}]}}', "category"),
        (b'{"properties": {"a b": ["x"]}}', "a b"),
        (b'{"action": "update"}', "url"),
        (b'{"action": "delete", "url": ["x"]}', "url"),
        (b'{"action": ["delete"], "url": "x"}', "a list"),
        (b'{"action": null, "url": "x"}', "null"),
        (b'{"action": "publish", "url": "x"}', "publish"),
    ],
)
def test_json__that_makes_no_sense(micropub, body, word):
    assert_refused(micropub.send(body, JSON), word)
    assert not Post.objects.exists()


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"content=\xff", "UTF-8"),
        (b"content=%FF", "UTF-8"),
        (b"content=a%00b", "NUL"),
        (b"%00=a", "NUL"),
        (b"&".join(b"p%d=x" % number for number in range(1000)), "200"),
        (b"&".join(b"category[]=x%d" % number for number in range(2000)), "1100"),
        (b"h=card&content=x", "card"),
        (b"h=entry", "empty"),
        (b"action=delete", "url"),
        (b"action=rename&url=x", "rename"),
        (b"content=x&photo=ftp://x.example/a.jpg", "http"),
        (b"content=x&published=0000-00-00", "published"),
        (b"content=x&published=0001-01-01T00:00:00%2B14:00", "published"),
        (b"content=x&category=" + b"c" * 101, "category"),
    ],
)
def test_form__that_makes_no_sense(micropub, body, word):
    assert_refused(micropub.send(body, FORM), word)
    assert not Post.objects.exists()


@pytest.mark.parametrize("content_type", [JSON, FORM])
def test_body__of_ten_megabytes(site, content_type):
    body = b'{"properties": {"content": ["' + b"x" * 10_000_000 + b'"]}}'
    headers = site.headers(**{"Content-Type": content_type})
    answer = httpx.post(f"{site.url}/micropub", content=body, headers=headers, timeout=30)
    assert (answer.status_code, answer.json()["error"]) == (413, "too_large")


def test_body__that_is_too_large_is_refused_without_the_guard_too(micropub):
    assert_refused(micropub.send(b"x" * 10_000_000, JSON), "larger", status=413, error="too_large")


@pytest.mark.parametrize("secret", ["garbage", "vernier_" + "x" * 43, "ü", "a b", "x" * 5000, "Bearer"])
def test_token__of_nobody(author, secret):
    answer = Micropub(quote(secret)).form({"content": "x"})
    assert_refused(answer, "unknown", status=401, error="invalid_token")
    assert_refused(Micropub("").form({"content": "x", "access_token": secret}), status=401, error="invalid_token")
    assert not Post.objects.exists()


def test_token__that_is_over(author):
    now = timezone.now()
    expired = Micropub(issue_token(author, scope="create", expires_at=now - timedelta(seconds=1)))
    revoked = Micropub(issue_token(author, scope="create"))
    AccessToken.objects.filter(expires_at=None).update(revoked_at=now)
    for client in (expired, revoked):
        answer = client.form({"content": "x"})
        assert_refused(answer, status=401, error="invalid_token")
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
    assert not Post.objects.exists()


def test_stranger__learns_and_changes_nothing(micropub, stranger):
    url = micropub.create(content="Mine", post_status="draft")
    before = micropub.source(url)
    unknown = "http://127.0.0.1:8000/2026/11/unknown"
    for client_url in (url, unknown):
        answers = [
            stranger.update(client_url, replace={"content": ["Theirs"]}),
            stranger.act("delete", client_url),
            stranger.act("undelete", client_url),
            stranger.query("source", url=client_url),
        ]
        assert {answer.status_code for answer in answers} == {400}
        assert {answer.json()["error_description"].replace(client_url, "") for answer in answers} == {
            "There is no post of yours at “”."
        }
    assert micropub.source(url) == before


@pytest.mark.parametrize(
    ("action", "scope"), [("update", "create delete"), ("delete", "update"), ("undelete", "delete")]
)
def test_scope__of_each_action(micropub, client_with, action, scope):
    url = micropub.create(content="Mine")
    answer = client_with(scope).json({"action": action, "url": url, "replace": {"content": ["x"]}})
    assert_refused(answer, action, status=401, error="insufficient_scope")
    assert micropub.source(url)["content"] == ["Mine"]


def test_update__cannot_grow_a_property_without_end(micropub):
    url = micropub.create(content="Text", x=["y"] * 1000)
    assert_refused(micropub.update(url, add={"x": ["z"]}), "1001 values", "1000")
    assert len(micropub.source(url)["x"]) == 1000


def test_update__that_would_leave_nothing(micropub):
    url = micropub.create(content="Text")
    assert_refused(micropub.update(url, delete=["content"]), "delete")
    assert micropub.source(url)["content"] == ["Text"]


def test_query__with_too_many_parameters(micropub):
    answer = micropub.http.get("/micropub?q=config" + "&a=1" * 2000, headers=micropub.headers())
    assert_refused(answer, "parameters")


@pytest.mark.parametrize("name", ["q", "url", "filter", "post-type", "properties", "search"])
def test_query__with_a_nul(micropub, name):
    for q in ("source", "category"):
        assert_refused(micropub.query(**{"q": q, name: "a\0b"}), "NUL")


def test_nobody__is_told_of_a_proxy_that_may_have_removed_the_token(author):
    nobody = Micropub("")
    through_proxy = nobody.http.get("/micropub?q=config", headers={"X-Forwarded-For": "192.0.2.1"})
    assert_refused(through_proxy, "/editor/self-check", status=401, error="unauthorized")
    assert "self-check" not in nobody.query("config").json()["error_description"]


def test_token__is_found_beside_the_password_of_a_proxy(micropub):
    fields = {"content": "x", "access_token": micropub.token}
    assert Micropub("").form(fields, Authorization="Basic YTpi").status_code == 201
