"""Two thousand requests of any kind: never a server error, and every refusal in JSON."""

import json
from string import printable
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.micropub.client import FORM

pytestmark = pytest.mark.django_db
ADDRESS = "http://127.0.0.1:8000/2026/11/known"
NAMES = [
    *["h", "type", "properties", "action", "url", "replace", "add", "delete", "content", "name", "photo", "category"],
    *["published", "post-status", "visibility", "mp-slug", "slug", "mp-photo-alt", "html", "value", "alt", "summary"],
    *["in-reply-to", "access_token", "content[]", "photo[]", "x[0]", "", "\0", "a" * 300],
]
WORDS = [
    *["entry", "h-entry", "update", "undelete", "draft", "private", ADDRESS, "https://x.example/a.jpg", "http://["],
    *[
        "2026-11-30T12:00:00+01:00",
        "9999-12-31T23:59:59-14:00",
        "<b>x</b>",
        "\0",
        "\ud800",
        "\N{ARABIC-INDIC DIGIT ONE}",
        "http://127.0.0.1:8000/",
    ],
]
names = st.one_of(st.sampled_from(NAMES), st.text(max_size=8))
texts = st.one_of(st.sampled_from(WORDS), st.text(max_size=30))
numbers = st.one_of(st.integers(), st.floats(), st.just(10**400))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=4)),
    max_leaves=12,
)
likely_names = st.sampled_from([name for name in NAMES if name.replace("-", "").isalpha()])
likely_values = st.one_of(texts, numbers, st.builds(lambda value, alt: {"value": value, "alt": alt}, texts, values))
likely = st.dictionaries(likely_names, st.lists(st.one_of(likely_values, values), max_size=3), max_size=4)
any_properties = st.dictionaries(names, st.one_of(st.lists(values, max_size=4), values), max_size=6)
properties = st.one_of(likely, likely, likely, any_properties)
commands = st.one_of(
    st.builds(lambda given: {"type": ["h-entry"], "properties": given}, properties),
    st.builds(
        lambda given, name: {"action": "update", "url": ADDRESS, name: given},
        st.one_of(properties, st.lists(names)),
        st.sampled_from(["replace", "add", "delete"]),
    ),
    values,
)
fields = st.one_of(
    st.lists(st.tuples(likely_names, texts), max_size=6).map(lambda given: [("content", "x"), *given]),
    st.lists(st.tuples(names, texts), max_size=8),
)
bounded = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)


@pytest.fixture(autouse=True)
def post(micropub):
    micropub.create(content="Known", category=["a", "b"], mp_slug="known", published="2026-11-01T12:00:00+00:00")


def check(answer):
    assert answer.status_code < 500, answer.content
    if answer.status_code >= 400:
        assert set(answer.json()) == {"error", "error_description"}


def encode(pairs):
    return urlencode(pairs, errors="surrogatepass").encode()


@settings(bounded, max_examples=700)
@given(command=commands)
def test_json__of_any_content(micropub, command):
    check(micropub.send(json.dumps(command), "application/json"))


@settings(bounded, max_examples=200)
@given(body=st.one_of(st.binary(max_size=60), st.text(printable, max_size=60).map(str.encode)))
def test_body__of_any_bytes(micropub, body):
    for content_type in ("application/json", FORM, "multipart/form-data; boundary=b"):
        check(micropub.send(body, content_type))


@settings(bounded, max_examples=400)
@given(given_fields=fields)
def test_form__of_any_fields(micropub, given_fields):
    check(micropub.send(encode(given_fields), FORM))


@settings(bounded, max_examples=300)
@given(
    q=st.sampled_from(["config", "source", "category", "media-endpoint", "last", "x"]),
    more=st.dictionaries(
        st.sampled_from(["url", "limit", "offset", "filter", "search", "post-type", "properties", "properties[]"]),
        st.one_of(texts, st.integers().map(str)),
        max_size=4,
    ),
)
def test_query__of_any_parameters(micropub, q, more):
    query = encode({"q": q, **more}).decode()
    for path in ("/micropub", "/media"):
        check(micropub.http.get(f"{path}?{query}", headers=micropub.headers()))


@settings(bounded, max_examples=200)
@given(content=st.one_of(st.fixed_dictionaries({"action": st.just("delete"), "url": values}), values))
def test_media_action__of_any_content(micropub, content):
    answer = micropub.http.post("/media", json.dumps(content), "application/json", headers=micropub.headers())
    check(answer)
    assert answer.status_code >= 400
