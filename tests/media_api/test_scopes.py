"""Who may do what with images: every route and method, with every token. A route without an entry in the table fails.

The routes of posts, pages and sign-in are in `tests/site/test_access.py`.
"""

import itertools
from dataclasses import dataclass

import httpx
import pytest
from django.urls import URLResolver, get_resolver

from tests.media_api.factory import make_media
from vernier.authors.models import SCOPES

ALL = frozenset(SCOPES)
OF_WORK = ALL - {"profile", "email"}


@dataclass(frozen=True, kw_only=True)
class Rule:
    """The answers to nobody, to another author, to the owner without and with one of the scopes."""

    nobody: int
    stranger: int
    unscoped: int | None = None
    scoped: int
    scopes: frozenset[str] = ALL


def everybody(status):
    return Rule(nobody=status, stranger=status, scoped=status)


PUBLIC = {"GET": everybody(200), "HEAD": everybody(200)}
PREFLIGHT = {"OPTIONS": everybody(204)}
OWNERS = Rule(nobody=404, stranger=404, scoped=200)

# What Django's admin has below it is for operators with a session, and tested there.
ELSEWHERE = {"admin/"}
OTHER_APPS = {"authors", "indieauth", "micropub", "editor", "pages"}
# By the name of the route. What the site itself has asks for no token and is open to everybody.
TABLE = {
    "healthz": {"GET": everybody(503), "HEAD": everybody(503)},
    "metrics": PUBLIC,
    "static_file": PUBLIC,
    "media": {
        "GET": Rule(nobody=401, stranger=200, unscoped=401, scoped=200, scopes=OF_WORK),
        "HEAD": Rule(nobody=401, stranger=200, unscoped=401, scoped=200, scopes=OF_WORK),
        "POST": Rule(nobody=401, stranger=201, unscoped=401, scoped=201, scopes=frozenset({"media", "create"})),
        **PREFLIGHT,
    },
    "current": {
        **PUBLIC,
        "PUT": Rule(nobody=401, stranger=404, unscoped=401, scoped=202, scopes=frozenset({"media", "update"})),
        "DELETE": Rule(nobody=401, stranger=404, unscoped=401, scoped=204, scopes=frozenset({"delete"})),
        **PREFLIGHT,
    },
    "status": {"GET": OWNERS, "HEAD": OWNERS, **PREFLIGHT},
    "versioned": {**PUBLIC, **PREFLIGHT},
    "nothing": {"GET": everybody(404), "HEAD": everybody(404), **PREFLIGHT},
}
PATHS = {
    "healthz": "/healthz",
    "metrics": "/metrics",
    "static_file": "/static/admin/css/base.css",
    "media": "/media?q=last",
    "current": "/media/{id}",
    "status": "/media/{id}/status",
    "versioned": "/media/{id}/v1/photo.avif",
    "nothing": "/media/{id}/a/b/c",
}
OF_THE_SITE = {"healthz", "metrics", "static_file"}


def routes(patterns):
    for pattern in patterns:
        is_elsewhere = str(pattern.pattern) in ELSEWHERE or getattr(pattern, "namespace", None) in OTHER_APPS
        if is_elsewhere:
            continue
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns)
        else:
            yield pattern.name or str(pattern.pattern)


@pytest.fixture(scope="module")
def tokens(site):
    """The owner's tokens, one for each scope, and another author's with all of them."""
    owners = {scope: site.token_for("ann", scope) for scope in SCOPES}
    return {**owners, "stranger": site.token_for("bob", " ".join(SCOPES))}


@pytest.fixture
def ask(site, jpeg, tokens):
    def ask(name, method, token=None):
        with site.rows():
            media = make_media(site.author)
        content = {"POST": {"files": {"file": jpeg}}, "PUT": {"content": jpeg}}.get(method, {})
        headers = {"Authorization": f"Bearer {tokens[token]}"} if token else {}
        path = PATHS[name].format(id=media.pk)
        return httpx.request(method, site.url + path, headers=headers, timeout=30, **content)

    return ask


def test_table__has_every_route():
    assert set(routes(get_resolver().url_patterns)) == set(TABLE) == set(PATHS)


@pytest.mark.parametrize("name", sorted(set(TABLE) - OF_THE_SITE))
def test_table__has_every_method(ask, name):
    answer = ask(name, "PATCH")
    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(", ")) == set(TABLE[name])


@pytest.mark.parametrize(("name", "method"), [pytest.param(name, method) for name in TABLE for method in TABLE[name]])
def test_scope__decides(ask, name, method):
    rule = TABLE[name][method]
    expected = {None: rule.nobody, "stranger": rule.stranger}
    expected |= {scope: rule.scoped if scope in rule.scopes else rule.unscoped for scope in SCOPES}
    assert {token: ask(name, method, token).status_code for token in expected} == expected


@pytest.mark.parametrize(
    ("name", "method"),
    [
        (name, method)
        for name, method in itertools.product(TABLE, ("PUT", "DELETE", "POST"))
        if method not in TABLE[name]
    ],
)
def test_method__that_is_not_in_the_table_changes_nothing(ask, name, method):
    assert ask(name, method, "stranger").status_code in {403, 405}
