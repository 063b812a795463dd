"""Photos on other sites: linked, and copied from those hosts only that the operator has listed."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_ox.models import OxTask

from tests.net.server import answer
from vernier.media.models import Media, Version
from vernier.micropub import copies
from vernier.micropub.copies import ATTEMPTS_MAX, copy_photos
from vernier.micropub.jobs import COPY_PHOTOS
from vernier.posts.models import Post

pytestmark = pytest.mark.django_db
JPEG = b"\xff\xd8\xff\xe0" + b"x" * 5000
PATH = "/photo.jpg"


@pytest.fixture
def photos(start_server, settings):
    """A site from which photos are copied."""
    server = start_server()
    server.answers[PATH] = answer(200, "Content-Type: image/jpeg", body=JPEG)
    settings.VERNIER_MICROPUB = {"PHOTO_HOSTS": ("127.0.0.1",)}
    return server


def run(url, micropub, *, attempt=1):
    """Run the job as a worker would, and return the post's photos."""
    copy_photos(Post.objects.get().pk, attempt=attempt)
    return micropub.source(url)["photo"]


def jobs():
    return OxTask.objects.filter(task_path=COPY_PHOTOS)


def test_copy__takes_the_place_of_the_link(micropub, photos):
    linked = {"value": photos.url(PATH), "alt": "A photo"}
    url = micropub.create(content="x", photo=["https://other.example/a.jpg", linked])
    assert micropub.source(url)["photo"][1] == linked
    kept, copied = run(url, micropub)
    media = Media.objects.get()
    assert kept == "https://other.example/a.jpg"
    assert copied == {"value": f"http://127.0.0.1:8000/media/{media.pk}", "alt": "A photo"}
    assert Version.objects.get().byte_size == len(JPEG)


def test_copy__is_asked_for_with_the_post_and_for_listed_hosts_only(micropub, photos):
    micropub.create(content="None", photo="https://other.example/a.jpg")
    assert jobs().count() == 0
    micropub.create(content="One", photo=photos.url(PATH))
    assert jobs().count() == 1
    assert photos.requests == []


def test_copy__is_asked_for_by_an_update_too(micropub, photos):
    url = micropub.create(content="Text")
    micropub.update(url, add={"photo": [photos.url(PATH)]})
    assert jobs().count() == 1
    assert "/media/" in run(url, micropub)[0]


def test_copy__twice_is_one_image(micropub, photos):
    url = micropub.create(photo=photos.url(PATH))
    first = run(url, micropub)
    assert run(url, micropub) == first
    assert (Media.objects.count(), len(photos.requests)) == (1, 1)


def test_copy__of_a_job_that_was_killed_is_the_same_image(micropub, photos, monkeypatch):
    url = micropub.create(photo=photos.url(PATH))
    with monkeypatch.context() as patch:
        patch.setattr("vernier.micropub.copies._attach", lambda *_: None)
        run(url, micropub)
    assert run(url, micropub) == [f"http://127.0.0.1:8000/media/{Media.objects.get().pk}"]


@pytest.mark.parametrize(
    ("said", "is_tried_again"),
    [
        (answer(200, body=b"<html>no image</html>" * 10), False),
        (answer(302, "Location: http://192.0.2.1/a.jpg"), False),
        (answer(404), True),
        (answer(503), True),
        (b"no HTTP", True),
    ],
)
def test_copy__that_fails_leaves_the_link(micropub, photos, said, is_tried_again):
    photos.answers[PATH] = said
    url = micropub.create(photo=photos.url(PATH))
    jobs().delete()
    assert run(url, micropub) == [photos.url(PATH)]
    assert jobs().exists() is is_tried_again
    assert not Media.objects.exists()


def test_copy__is_tried_a_few_times_only(micropub, photos):
    photos.answers[PATH] = answer(503)
    url = micropub.create(photo=photos.url(PATH))
    jobs().delete()
    now = timezone.now()
    copy_photos(Post.objects.get().pk, attempt=ATTEMPTS_MAX - 1, now=now)
    assert jobs().get().run_after == now + timedelta(minutes=2 ** (ATTEMPTS_MAX - 2))
    jobs().delete()
    run(url, micropub, attempt=ATTEMPTS_MAX)
    assert not jobs().exists()


def test_copy__of_what_the_post_has_no_more_is_not_kept(micropub, photos, monkeypatch):
    url = micropub.create(content="x", photo=photos.url(PATH))
    accept = copies._accept

    def accept_and_lose(post, address):
        micropub.update(url, delete=["photo"])
        return accept(post, address)

    monkeypatch.setattr(copies, "_accept", accept_and_lose)
    copies.copy_photos(Post.objects.get().pk, attempt=1)
    assert "photo" not in micropub.source(url)
    assert not Media.objects.live().exists()


def test_copy__of_a_deleted_post_is_not_made(micropub, photos):
    url = micropub.create(content="x", photo=photos.url(PATH))
    micropub.act("delete", url)
    copy_photos(Post.objects.get().pk, attempt=1)
    assert photos.requests == []
