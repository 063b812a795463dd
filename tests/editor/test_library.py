"""The media library, and the page of one image."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from tests.editor.pages import text_of
from tests.media_api.factory import add_version, lose, make_media
from vernier.media.models import Media, Version
from vernier.posts.delete import delete_post
from vernier.posts.entry import EntryPhoto


def shown(response, images):
    """Return the names of those of the images that the page shows."""
    page = text_of(response)
    return {name for name, media in images.items() if f'data-media="{media.pk}"' in page}


@pytest.fixture
def images(author, write):
    """An image in each state; the ready one is in a post."""
    images = {status: make_media(author, status=status) for status in ("pending", "processing", "ready", "failed")}
    images["lost"] = make_media(author)
    lose(images["lost"], "photo")
    Version.objects.filter(media=images["lost"]).update(lost_at=timezone.now())
    write("At the lake.", photos=(EntryPhoto(media_id=images["ready"].pk),))
    return images


@pytest.mark.parametrize(
    ("show", "names"),
    [
        ("", {"pending", "processing", "ready", "failed", "lost"}),
        ("processing", {"pending", "processing"}),
        ("ready", {"ready"}),
        ("failed", {"failed", "lost"}),
        ("unused", {"pending", "processing", "failed", "lost"}),
    ],
)
def test_library__shows_the_images_that_were_asked_for(client, images, show, names):
    assert shown(client.get("/editor/media", {"show": show}), images) == names


def test_library__tells_state_reason_and_use(client, images):
    page = text_of(client.get("/editor/media"))
    for word in ("Queued", "Processing", "Ready", "Failed", "Lost", "just now", "Not used"):
        assert word in page
    assert "This file ends too early" in page
    assert "At the lake." in page


def test_library__tells_the_age(client, author):
    make_media(author, status="pending", accepted_at=timezone.now() - timedelta(hours=3))
    assert "3 hours ago" in text_of(client.get("/editor/media"))


def test_image_of_a_deleted_post__is_unused(client, author, images, write):
    post = write(photos=(EntryPhoto(media_id=images["failed"].pk),))
    assert "failed" not in shown(client.get("/editor/media", {"show": "unused"}), images)
    delete_post(author, post.pk)
    assert "failed" in shown(client.get("/editor/media", {"show": "unused"}), images)


def test_library__costs_the_same_however_many_images(client, author, django_assert_max_num_queries):
    for _ in range(25):
        make_media(author)
    with django_assert_max_num_queries(9):
        client.get("/editor/media")


def test_image__that_failed_as_a_replacement_says_what_readers_see(client, author):
    media = make_media(author)
    add_version(media, status="failed", contents={})
    page = text_of(client.get(f"/editor/media/{media.pk}"))
    assert "Readers still see the earlier picture." in page
    assert f"/media/{media.pk}/v1/fallback.jpg" in page


def test_image__shows_its_lasting_address(client, author):
    media = make_media(author)
    assert f"/media/{media.pk}</a>" in text_of(client.get(f"/editor/media/{media.pk}"))


def test_image__that_failed_for_a_passing_reason_is_processed_again(client, author):
    keeps = {"staging_key": "k", "staging_delete_at": timezone.now() + timedelta(days=1)}
    media = make_media(author, status="failed", contents={}, failure_code="storage-unavailable", **keeps)
    assert "Process the same file again" in text_of(client.get(f"/editor/media/{media.pk}"))
    answer = client.post(f"/editor/media/{media.pk}/again", follow=True)
    assert "The image is processed again." in text_of(answer)
    assert media.versions.get().status == "pending"


def test_image__whose_file_is_gone_says_so(client, author):
    media = make_media(author, status="failed", contents={})
    assert "Process the same file again" not in text_of(client.get(f"/editor/media/{media.pk}"))
    answer = client.post(f"/editor/media/{media.pk}/again", follow=True)
    assert "The file is no longer on the server." in text_of(answer)


def test_image__is_deleted_for_good(client, author):
    media = make_media(author)
    answer = client.post(f"/editor/media/{media.pk}/delete", follow=True)
    assert "The image is deleted." in text_of(answer)
    assert Media.objects.get().deleted_at is not None
    assert client.get(f"/editor/media/{media.pk}").status_code == 404


@pytest.mark.parametrize("action", ["delete", "again", "profile", "replace"])
def test_image_of_another_author__is_not_found(author, other_author, action):
    media = make_media(author)
    client = Client()
    client.force_login(other_author)
    assert client.get(f"/editor/media/{media.pk}").status_code == 404
    assert client.post(f"/editor/media/{media.pk}/{action}").status_code in {302, 404}
    assert client.post(f"/editor/media/{uuid4()}/{action}").status_code in {302, 404}
    assert Media.objects.get().deleted_at is None
    assert Media.objects.get().newest_number == 1


@pytest.mark.parametrize("status", ["ready", "processing"])
def test_image__becomes_the_profile_photo(client, author, status):
    media = make_media(author, status=status)
    assert "Use as profile photo" in text_of(client.get(f"/editor/media/{media.pk}"))
    response = client.post(f"/editor/media/{media.pk}/profile", {"action": "use"}, follow=True)
    assert "This is your profile photo." in text_of(response)
    assert "Profile photo" in text_of(client.get("/editor/media"))
    home = text_of(Client().get("/"))
    assert ("u-photo" in home and f"/media/{media.pk}/" in home) == (status == "ready")


def test_image__that_failed_is_not_offered_as_profile_photo(client, author):
    media = make_media(author, status="failed", contents={})
    assert "Use as profile photo" not in text_of(client.get(f"/editor/media/{media.pk}"))


def test_profile_photo__is_removed_by_its_own_page_alone(client, author):
    photo, other = make_media(author), make_media(author)
    client.post(f"/editor/media/{photo.pk}/profile", {"action": "use"})
    client.post(f"/editor/media/{other.pk}/profile", {"action": "remove"})
    assert "u-photo" in text_of(Client().get("/"))
    client.post(f"/editor/media/{photo.pk}/profile", {"action": "remove"})
    assert "u-photo" not in text_of(Client().get("/"))


def test_profile_photo__is_not_unused_until_it_is_deleted(client, author):
    media = make_media(author)
    client.post(f"/editor/media/{media.pk}/profile", {"action": "use"})
    assert not shown(client.get("/editor/media", {"show": "unused"}), {"profile": media})
    assert f"/editor/media/{media.pk}" in text_of(client.get("/account"))
    client.post(f"/editor/media/{media.pk}/delete")
    assert "u-photo" not in text_of(Client().get("/"))
    assert f"/editor/media/{media.pk}" not in text_of(client.get("/account"))


def test_image_of_another_author__becomes_nobody_elses_profile_photo(client, author, other_author):
    media = make_media(other_author)
    assert client.post(f"/editor/media/{media.pk}/profile", {"action": "use"}).status_code == 404
    author.refresh_from_db()
    assert author.photo is None
