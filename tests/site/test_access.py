"""Who may see and do what by session: every route of the site. A route without an entry in the table fails."""

from uuid import uuid4

import pytest
from django.urls import URLResolver, get_resolver

PATHS = {
    "uuid:post_id": str(uuid4()),
    "uuid:media_id": str(uuid4()),
    "str:secret": "secret",
    "str:name": "alice",
    "path:rest": "rest",
    "path:path": "nowhere",
}
# The author's own: nobody else gets there, and a visitor is sent to the sign-in page.
AUTHORS = {
    "authors:account", "authors:email", "authors:password",
    "indieauth:tokens", "micropub:self_check",
    "editor:posts", "editor:new", "editor:post", "editor:delete_post", "editor:restore_post", "editor:library",
    "editor:image", "editor:replace", "editor:delete_media", "editor:again", "editor:upload", "editor:profile_photo",
}  # fmt: skip
# Open to everybody; what they show or want, each asks for itself: see the tests of their apps.
OPEN = {
    "authors:login", "authors:ask_code", "authors:code", "authors:logout", "authors:link",
    "indieauth:well_known", "indieauth:metadata", "indieauth:authorize", "indieauth:token", "indieauth:introspect",
    "indieauth:revoke", "indieauth:userinfo",
    "micropub:micropub", "micropub:micropub_nothing", "micropub:micropub_slash",
    "pages:home", "pages:site_feed", "pages:tag_feed", "pages:author_feed", "pages:tag", "pages:author",
    "pages:archive", "pages:month", "pages:permalink", "pages:any_other",
}  # fmt: skip
# In `tests/media_api/test_scopes.py`, with every token.
WITH_TOKENS = {"", "media_api"}


def routes(patterns, namespace=""):
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            if str(pattern.pattern) != "admin/":
                yield from routes(pattern.url_patterns, pattern.namespace or namespace)
        else:
            yield namespace, pattern.name, str(pattern.pattern)


ROUTES = {
    f"{namespace}:{name}": pattern
    for namespace, name, pattern in routes(get_resolver().url_patterns)
    if namespace not in WITH_TOKENS
}


def path_of(name):
    path = f"/{ROUTES[name]}"
    for part, value in PATHS.items():
        path = path.replace(f"<{part}>", value)
    return path


def test_table__has_every_route():
    assert set(ROUTES) == AUTHORS | OPEN


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("name", sorted(AUTHORS))
def test_authors_page__is_not_for_visitors(client, name, method):
    response = getattr(client, method)(path_of(name))
    assert response.status_code in {302, 403, 405}
    assert response.status_code != 302 or response.headers["Location"].startswith("/login")


@pytest.mark.django_db
@pytest.mark.parametrize("name", sorted(AUTHORS - {"editor:post"}))
def test_authors_page__changes_nothing_without_the_csrf_token(name, author):
    from django.test import Client

    strict = Client(enforce_csrf_checks=True)
    strict.force_login(author)
    assert strict.post(path_of(name)).status_code in {403, 405}
