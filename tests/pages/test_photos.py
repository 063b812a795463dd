import re
from dataclasses import replace

import pytest
from django.utils import timezone

from tests.media_api.factory import add_rendition, add_version, lose, make_media, make_ready
from tests.pages.factory import html, publish
from vernier.media.delete import delete_media
from vernier.media.models import Media, Rendition, Version
from vernier.posts.entry import EntryPhoto
from vernier.posts.write import change_post


@pytest.fixture
def heron(author):
    """A photo with a narrow step, as wide as in life."""
    media = make_media(author, placeholder="#a1b2c3")
    add_rendition(media.current, "w480", "avif", b"NARROW")
    Rendition.objects.filter(variant="w480").update(width=480, height=360)
    Rendition.objects.exclude(variant="w480").update(width=2048, height=1536)
    return media


def page_of(client, post):
    return client.get(f"/{post.path}").text


def test_photo__has_sources_and_a_fallback_with_its_size(author, client, heron):
    page = page_of(client, publish(author, photos=[heron]))
    address = f"http://127.0.0.1:8000/media/{heron.pk}/v1"
    assert f'<source type="image/avif" srcset="{address}/w480.avif 480w, {address}/photo.avif 2048w" sizes=' in page
    assert f'<img class="u-photo" src="{address}/fallback.jpg" alt="A heron" width="2048" height="1536"' in page


def test_photo__of_another_shape_is_no_source(author, client, heron):
    Rendition.objects.filter(variant="w480").update(height=480)
    assert "480w" not in page_of(client, publish(author, photos=[heron]))


def test_photo__has_its_colour_while_it_loads(author, client, heron):
    assert 'fill="#a1b2c3"' in page_of(client, publish(author, photos=[heron]))


def test_photo__has_no_colour_behind_what_is_transparent(author, client, heron):
    Version.objects.update(has_alpha=True)
    assert "<svg" not in page_of(client, publish(author, photos=[heron]))


def test_photos__only_the_first_one_loads_at_once(author, client):
    publish(author, photos=[make_media(author), make_media(author)])
    loading = re.findall(r'fetchpriority="high"|loading="lazy"', client.get("/").text)
    assert loading == ['fetchpriority="high"', 'loading="lazy"']


def test_photos__keep_their_order_and_alt_texts(author, entry):
    photos = [EntryPhoto(media_id=make_media(author).pk, alt=alt) for alt in ("One", "", "Three")]
    found = entry(f"/{publish(author, photos=photos).path}")["photo"]
    addresses = [f"http://127.0.0.1:8000/media/{photo.media_id}/v1/fallback.jpg" for photo in photos]
    assert [one["value"] for one in found] == addresses
    assert [one["alt"] for one in found] == ["One", "", "Three"]


def test_photo__is_left_out_until_it_is_ready(author, client, entry):
    media = make_media(author, status="pending", contents={})
    post = publish(author, photos=[media])
    assert "photo" not in entry(f"/{post.path}")
    assert str(media.pk) not in page_of(client, post) + client.get("/").text
    make_ready(media)
    assert str(media.pk) in entry(f"/{post.path}")["photo"][0]["value"]
    assert str(media.pk) in client.get("/").text


@pytest.mark.parametrize("end", ["failed", "deleted", "lost"])
def test_photo__that_is_not_there_is_left_out(end, author, client):
    media = make_media(author, status="failed" if end == "failed" else "ready")
    post = publish(author, photos=[media])
    if end == "deleted":
        delete_media(media.pk, owner=author)
    if end == "lost":
        lose(media, "fallback")
    page = page_of(client, post)
    assert "<img" not in page
    assert "Some words." in page
    assert "og:image" not in page


def test_photo__source_that_is_lost_is_left_out(author, client, heron):
    lose(heron, "photo")
    page = page_of(client, publish(author, photos=[heron]))
    assert "photo.avif" not in page
    assert "w480.avif" in page


def test_photo__after_replacement_has_the_new_address(author, client):
    """R3: a page that a cache still has names the old one, which stays for its grace."""
    media = make_media(author)
    post = publish(author, photos=[media])
    old = re.search(r"/media/[^ ]+/fallback.jpg", page_of(client, post))[0]
    add_version(media)
    assert "/v2/fallback.jpg" in page_of(client, post)
    assert old not in page_of(client, post)
    assert client.get(old).status_code == 200


def test_photo__elsewhere_is_linked_without_saying_from_where(author, client):
    url = "https://img.example/1.jpg"
    page = page_of(client, publish(author, photos=[EntryPhoto(url=url, alt="Theirs")]))
    assert f'<img class="u-photo" src="{url}" alt="Theirs" referrerpolicy="no-referrer"' in page
    assert f'<meta property="og:image" content="{url}">' in page


def test_preview__is_the_first_photo_in_the_fallback_format(author, client):
    media = make_media(author)
    page = page_of(client, publish(author, photos=[EntryPhoto(url="https://img.example/1.jpg"), media]))
    assert f'<meta property="og:image" content="http://127.0.0.1:8000/media/{media.pk}/v1/fallback.jpg">' in page
    assert '<meta property="og:image:width" content="400">' in page
    assert '<meta property="og:image:alt" content="A heron">' in page
    assert '<meta name="twitter:card" content="summary_large_image">' in page


def test_image_in_the_text__has_its_size_and_loads_late(author, client):
    media = make_media(author)
    page = page_of(client, publish(author, content=html(f'<p><img src="/media/{media.pk}" alt="In it"></p>')))
    image = re.search(r"<img[^>]*>", page)[0]
    assert f'src="http://127.0.0.1:8000/media/{media.pk}"' in image
    assert 'alt="In it"' in image
    assert 'width="400" height="300" loading="lazy"' in image


def test_image_in_the_text__is_left_out_until_it_is_ready(author, client):
    media = make_media(author, status="processing", contents={})
    post = publish(author, content=html(f'<p>Before</p><p><img src="/media/{media.pk}"></p>'))
    assert "<img" not in page_of(client, post)
    assert "<p></p>" not in page_of(client, post)
    make_ready(media)
    assert "<img" in page_of(client, post)


def test_image_in_the_text__that_never_was_is_left_out(author, client):
    source = f'<p>A<img src="http://127.0.0.1:8000/media/{"0" * 8}-0000-4000-8000-{"0" * 12}/v1/photo.avif">B</p>'
    assert "<p>AB</p>" in page_of(client, publish(author, content=html(source)))


def test_image_in_the_text__elsewhere_stays(author, client):
    page = page_of(client, publish(author, content=html('<img src="https://img.example/a.png">')))
    image = re.search(r"<img[^>]*>", page)[0]
    assert 'alt=""' in image
    assert 'src="https://img.example/a.png"' in image
    assert 'referrerpolicy="no-referrer"' in image


def test_author__sees_since_when_a_photo_waits(author, client):
    long_ago = timezone.now() - timezone.timedelta(minutes=12)
    post = publish(author, photos=[make_media(author, status="pending", contents={}, accepted_at=long_ago)])
    client.force_login(author)
    for page in (page_of(client, post), client.get("/").text):
        assert "Waiting to be processed for 12\xa0minutes." in page
        assert f'href="/editor/posts/{post.pk}"' in page


def test_author__sees_since_when_a_photo_is_worked_on(author, client):
    """J4: queued and processing apart."""
    claimed_at = timezone.now() - timezone.timedelta(minutes=3)
    media = make_media(author, status="processing", contents={}, claimed_at=claimed_at)
    post = publish(author, photos=[media])
    client.force_login(author)
    assert "Processing for 3\xa0minutes." in page_of(client, post)


def test_author__sees_why_a_photo_failed(author, client):
    post = publish(author, photos=[make_media(author, status="failed", contents={})])
    client.force_login(author)
    assert "This file ends too early: part of the image is missing." in page_of(client, post)


def test_author__sees_that_a_replacement_failed_and_what_is_served(author, client):
    media = make_media(author)
    post = publish(author, photos=[media])
    add_version(media, status="failed", contents={})
    client.force_login(author)
    page = page_of(client, post)
    assert "A newer version: This file ends too early" in page
    assert "/v1/fallback.jpg" in page


def test_author__sees_that_a_photo_is_deleted_or_lost(author, client):
    deleted, lost = make_media(author), make_media(author)
    post = publish(author, photos=[deleted, lost])
    delete_media(deleted.pk, owner=author)
    lose(lost, "fallback")
    client.force_login(author)
    page = page_of(client, post)
    assert "This photo was deleted." in page
    assert "The files of this photo are lost." in page


def test_other_author__sees_no_more_than_readers(author, client, django_user_model):
    post = publish(author, photos=[make_media(author, status="failed", contents={})])
    client.force_login(django_user_model.objects.create_user("bob"))
    page = page_of(client, post)
    assert "too early" not in page
    assert "/editor/posts/" not in page
    assert Media.objects.count() == 1


@pytest.mark.parametrize(("count", "wide"), [(1, 1), (2, 0), (3, 1)])
def test_gallery__gives_the_first_of_an_odd_number_its_whole_width(count, wide, author, client):
    page = page_of(client, publish(author, photos=[make_media(author) for _ in range(count)]))
    assert page.count("42rem, 100vw") == wide
    assert page.count("21rem, 50vw") == count - wide


def test_alt_text__stays_with_its_photo(author, client, entry):
    """P8."""
    photos = [EntryPhoto(media_id=make_media(author).pk, alt=alt) for alt in ("One", "Two", "Three")]
    post = publish(author, photos=photos)
    change_post(author, post.pk, lambda entry: replace(entry, photos=(photos[2], photos[1])))
    found = {one["alt"]: one["value"] for one in entry(f"/{post.path}")["photo"]}
    assert list(found) == ["Three", "Two"]
    assert str(photos[2].media_id) in found["Three"]
    in_feed = re.findall(r'media/([^/]+)/v1/fallback.jpg\\" alt=\\"(\w+)', client.get("/feed.json").text)
    assert in_feed == [(str(photo.media_id), photo.alt) for photo in (photos[2], photos[1])]
