from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from tests.pages.factory import publish
from vernier.posts.delete import delete_post
from vernier.posts.entry import Status, Visibility
from vernier.posts.models import Permalink
from vernier.posts.write import change_post

HIDDEN = [
    ({"status": Status.DRAFT}, "This is a draft."),
    ({"visibility": Visibility.PRIVATE}, "This post is private."),
    ({"published_at": datetime.now(tz=UTC) + timedelta(days=1)}, "This post is scheduled for"),
]


@pytest.mark.parametrize(("hidden", "words"), HIDDEN)
def test_hidden_post__is_its_authors_alone(hidden, words, author, client, django_user_model):
    path = f"/{publish(author, **hidden).path}"
    assert client.get(path).status_code == 404
    client.force_login(django_user_model.objects.create_user("bob"))
    assert client.get(path).status_code == 404
    client.force_login(author)
    page = client.get(path)
    assert page.status_code == 200
    assert words in page.text
    assert page["Cache-Control"] == "private, no-store"


def test_draft__without_a_time_is_shown(author, client):
    path = f"/{publish(author, status=Status.DRAFT, published_at=None).path}"
    client.force_login(author)
    assert client.get(path).status_code == 200


def test_unlisted_post__is_found_by_address_and_not_by_search_engines(author, client):
    page = client.get(f"/{publish(author, visibility=Visibility.UNLISTED).path}")
    assert page.status_code == 200
    assert '<meta name="robots" content="noindex">' in page.text
    assert "unlisted" not in page.text


def test_old_path__leads_to_the_new_one(author, client):
    """M6."""
    post = publish(author, slug="first")
    moved = change_post(author, post.pk, lambda entry: replace(entry, slug="second"))
    response = client.get(f"/{post.path}")
    assert (response.status_code, response["Location"]) == (301, f"/{moved.path}")
    assert client.get(response["Location"]).status_code == 200


def test_old_path__of_another_system_leads_to_the_post(author, client):
    post = publish(author)
    Permalink.objects.create(path="blog/archives/42.html", post=post)
    assert client.get("/blog/archives/42.html")["Location"] == f"/{post.path}"


def test_old_path__says_nothing_of_a_hidden_post(author, client):
    post = publish(author, slug="first", visibility=Visibility.PRIVATE)
    change_post(author, post.pk, lambda entry: replace(entry, slug="second"))
    assert client.get(f"/{post.path}").status_code == 404


def test_deleted_post__is_gone_at_all_its_paths(author, client):
    post = publish(author, slug="first")
    moved = change_post(author, post.pk, lambda entry: replace(entry, slug="second"))
    delete_post(author, post.pk)
    for path in (post.path, moved.path):
        response = client.get(f"/{path}")
        assert response.status_code == 410
        assert "This post was deleted" in response.text
        assert response["Cache-Control"] == "no-store"


def test_deleted_draft__never_was(author, client):
    post = publish(author, status=Status.DRAFT)
    delete_post(author, post.pk)
    assert client.get(f"/{post.path}").status_code == 404


def test_slash_at_the_end__leads_to_the_address_without(author, client):
    path = f"/{publish(author).path}"
    for address in (path, "/archive", "/authors/alice"):
        response = client.get(f"{address}/")
        assert (response.status_code, response["Location"]) == (301, address)


def test_slash_that_is_missing__is_added(author, client):
    assert client.get("/admin")["Location"] == "/admin/"


@pytest.mark.parametrize(
    "path",
    ["/%2fevil.example/", "/%5cevil.example/", "/a%00b", "/tags/%00", "/authors/a%00", "/2026/01/%00", "/%ff", "/a/"],
)
def test_nonsense__is_not_found_and_leads_nowhere(path, author, client):
    response = client.get(path)
    assert response.status_code == 404
    assert "There is nothing at this address." in response.text


@pytest.mark.django_db
def test_unknown_address__of_a_post_request_is_not_found():
    client = Client(enforce_csrf_checks=True)
    assert client.post("/nowhere").status_code == 404
    assert client.post("/archive/").status_code == 404


def test_author__edits_from_the_page(author, client):
    post = publish(author)
    client.force_login(author)
    assert f'href="/editor/posts/{post.pk}"' in client.get(f"/{post.path}").text


def test_error_pages__have_the_look_of_the_site(author, client, settings):
    page = client.get("/nowhere").text
    assert "/static/vernier/site.css" in page
    assert '<a class="site-name" href="/">127.0.0.1</a>' in page


def test_server_error__needs_no_database(client):
    from vernier.pages.errors import server_error

    page = server_error(None)
    assert page.status_code == 500
    assert "/static/vernier/site.css" in page.text
