"""The list of an author's posts."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.utils import timezone

from tests.editor.pages import text_of
from tests.media_api.factory import make_media
from vernier.editor.paging import PAGE_ROWS
from vernier.posts.entry import EntryPhoto, Status, Visibility
from vernier.posts.models import Post


@pytest.fixture
def posts(write):
    """One post in each state."""
    write("A draft.", status=Status.DRAFT)
    write("In the future.", published_at=timezone.now() + timedelta(days=1))
    write("For everybody.")
    write("For me.", visibility=Visibility.PRIVATE)
    Post.objects.filter(pk=write("Gone.").pk).update(deleted_at=timezone.now())


@pytest.mark.parametrize(
    ("show", "names"),
    [
        ("", ["For me.", "For everybody.", "In the future.", "A draft."]),
        ("drafts", ["A draft."]),
        ("scheduled", ["In the future."]),
        ("published", ["For me.", "For everybody."]),
        ("deleted", ["Gone."]),
    ],
)
def test_list__shows_the_posts_that_were_asked_for(client, posts, show, names):
    page = text_of(client.get("/editor/", {"show": show}))
    texts = ["For me.", "For everybody.", "In the future.", "A draft.", "Gone."]
    assert [name for name in texts if f"{name}<" in page] == names


def test_list__tells_how_the_photos_are_doing(client, author, write):
    ready, waiting, failed = (make_media(author, status=status) for status in ("ready", "pending", "failed"))
    write(photos=tuple(EntryPhoto(media_id=media.pk) for media in (ready, waiting, failed)))
    page = text_of(client.get("/editor/"))
    assert f"/media/{ready.pk}/v1/fallback.jpg" in page
    assert "1 photo processing" in page
    assert "1 photo failed" in page


def test_list__goes_on_where_the_page_before_has_ended(client, write):
    for number in range(PAGE_ROWS + 1):
        write(f"Post {number}.")
    first = client.get("/editor/")
    older = text_of(first).split('href="?show=&amp;after=')[1].split('"')[0].replace("&amp;", "&")
    second = text_of(client.get(f"/editor/?show=&after={older}"))
    assert "Post 0." in second
    assert "Post 1." not in second
    assert "Post 0." not in text_of(first)


def test_list__costs_the_same_however_many_posts(client, author, write, django_assert_max_num_queries):
    for _ in range(20):
        write(photos=(EntryPhoto(media_id=make_media(author).pk),))
    with django_assert_max_num_queries(10):
        client.get("/editor/")


@pytest.mark.parametrize("query", ["show=x", "after=x", "after=2026-01-01_x", "after=9999-12-31T23:59:59-12:00_x"])
def test_list__of_nonsense_is_not_found(client, query):
    assert client.get(f"/editor/?{query}").status_code == 404


def test_deleted_post__can_be_brought_back_at_once(client, write):
    post = write()
    answer = client.post(f"/editor/posts/{post.pk}/delete", follow=True)
    assert "The post is deleted." in text_of(answer)
    assert f"/editor/posts/{post.pk}/restore" in text_of(answer)
    client.post(f"/editor/posts/{post.pk}/restore")
    assert Post.objects.live().filter(pk=post.pk).exists()


def test_post_of_another_author__is_neither_listed_nor_deleted(other_author, write):
    post = write("Private matters.")
    client = Client()
    client.force_login(other_author)
    assert "Private matters." not in text_of(client.get("/editor/", {"undo": str(post.pk)}))
    assert client.post(f"/editor/posts/{post.pk}/delete").status_code == 404
    assert client.post(f"/editor/posts/{uuid4()}/restore").status_code == 404
    assert Post.objects.live().filter(pk=post.pk).exists()


NOBODYS = UUID("3b241101-e2bb-4255-8caf-4136c566a962")
PATHS = ["/editor/", "/editor/new", f"/editor/posts/{NOBODYS}", "/editor/media", f"/editor/media/{NOBODYS}"]


@pytest.mark.parametrize("path", PATHS)
def test_pages__lead_to_the_sign_in_page_and_back(db, path):
    response = Client().get(path)
    assert response.status_code == 302
    assert response["Location"] == f"/login?next={path}"
