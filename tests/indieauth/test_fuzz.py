"""Whatever a client sends: never a server error, and JSON from every endpoint for programs."""

import json

import pytest
from django.core.cache import cache
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.indieauth.app import AUTHORIZE, CLIENT_ID, REDIRECT_URI, TOKEN, VERIFIER
from vernier.indieauth.client_page import read_client_page

NAMES = [
    "grant_type",
    "code",
    "client_id",
    "redirect_uri",
    "code_verifier",
    "refresh_token",
    "scope",
    "action",
    "token",
]
VALUES = [
    "authorization_code",
    "refresh_token",
    "revoke",
    CLIENT_ID,
    REDIRECT_URI,
    VERIFIER,
    "create",
    "",
    "https://[",
]
FORM = "application/x-www-form-urlencoded"
fuzzed = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
forms = st.dictionaries(st.sampled_from(NAMES), st.one_of(st.sampled_from(VALUES), st.text(max_size=30)))
requests = st.dictionaries(
    st.sampled_from(["client_id", "redirect_uri", "response_type", "state", "scope", "code_challenge"]),
    st.one_of(st.sampled_from(["code", "S256", *VALUES]), st.text(max_size=30)),
)
browsers_bytes = st.binary(max_size=120)
content_types = st.one_of(
    st.sampled_from([FORM, f"{FORM}; charset=utf-16", "multipart/form-data; boundary=b", "multipart/form-data", ""]),
    st.text(st.characters(max_codepoint=126, min_codepoint=32), max_size=30),
)


def check(response, *, codes=(200, 400, 401)):
    assert response.status_code in codes, response.content
    assert json.loads(response.content) or response.status_code == 200


@pytest.mark.parametrize("path", [TOKEN, AUTHORIZE, "/indieauth/introspect", "/indieauth/revoke"])
@fuzzed
@given(form=forms)
def test_endpoint__answers_any_form(db, path, form):
    cache.clear()
    check(Client().post(path, form if path != AUTHORIZE else {"code": "x", **form}))


@fuzzed
@given(body=browsers_bytes, content_type=content_types)
def test_token__answers_any_body_of_any_type(db, body, content_type):
    cache.clear()
    check(Client().generic("POST", TOKEN, body, content_type=content_type))


@fuzzed
@given(header=st.text(st.characters(max_codepoint=255), max_size=60))
def test_token__answers_any_authorization_header(db, header):
    cache.clear()
    check(Client().get(TOKEN, headers={"Authorization": header}), codes=(401,))


@fuzzed
@given(parameters=requests)
def test_authorize__answers_any_request(browser, parameters):
    whole = {"client_id": CLIENT_ID, "redirect_uri": REDIRECT_URI, **parameters}
    assert browser.get(AUTHORIZE, whole).status_code in {200, 302, 400}
    assert browser.post(AUTHORIZE, {"decision": "approve", "consent": parameters.get("state", "")}).status_code == 400


PIECES = [
    "<a ",
    "class='h-app'",
    ' class="p-name">',
    "<link rel=redirect_uri href=",
    "http://[",
    "//x",
    ">",
    "</a>",
    "<!",
]


@fuzzed
@given(pieces=st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=10))))
def test_client_page__of_any_text_is_read(pieces):
    text = "".join(pieces)
    found = read_client_page(text, link_headers=[text], base="https://app.example/")
    assert len(found.name) <= 100
