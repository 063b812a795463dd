"""Addresses of what is gone: of Versions that were cleaned up, and of files that are lost."""

import httpx
import pytest

from tests.media_api.factory import CONTENTS, add_version, lose, make_media, supersede
from vernier.media.clean_up import clean_up_version
from vernier.media.models import Rendition, Version
from vernier.media.variants import Variant

NEW = {"photo": ("avif", b"NEW AVIF"), "fallback": ("jpeg", b"NEW JPEG")}
STEP = {"w480": ("avif", b"STEP")}


@pytest.fixture
def media(site):
    """A Media of which the first Version is a wide one with a step and was cleaned up."""
    with site.rows():
        media = make_media(site.author, contents={**CONTENTS, **STEP}, width=900, height=600)
        add_version(media, contents=NEW)
        clean_up(media, 1)
        return media


def clean_up(media, number):
    supersede(media, number)
    clean_up_version(media.pk, number)
    assert not Rendition.objects.filter(version__media=media, version__number=number).exists()


def location(site, media, rest):
    response = site.get(f"/media/{media.pk}/{rest}")
    assert (response.status_code, response.headers["Cache-Control"]) == (302, "no-store")
    return response.headers["Location"].removeprefix(f"{site.url}/media/{media.pk}/")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("v1/photo.avif", "v2/photo.avif"),
        ("v1/fallback.jpg", "v2/fallback.jpg"),
        # The new image is too small for a step.
        ("v1/w480.avif", "v2/photo.avif"),
    ],
)
def test_cleaned_up__redirects_to_what_has_its_place(site, media, old, new):
    """A page or feed that names the old file shows an image, at once and for months."""
    assert location(site, media, old) == new
    followed = httpx.get(f"{site.url}/media/{media.pk}/{old}", follow_redirects=True)
    assert followed.status_code == 200


def test_cleaned_up__redirects_a_head_request(site, media):
    assert httpx.head(f"{site.url}/media/{media.pk}/v1/photo.avif").status_code == 302


def test_cleaned_up__goes_in_one_step_to_the_newest(site, media):
    with site.rows():
        add_version(media, contents={**NEW, **STEP})
        clean_up(media, 2)
    assert location(site, media, "v1/photo.avif") == "v3/photo.avif"
    assert location(site, media, "v1/w480.avif") == "v3/w480.avif"
    assert location(site, media, "v2/fallback.jpg") == "v3/fallback.jpg"


def test_cleaned_up__of_another_format_keeps_the_variant(site, media):
    with site.rows():
        add_version(media, contents={"photo": ("avif", b"A"), "fallback": ("png", b"P")}, has_alpha=True)
    assert location(site, media, "v1/fallback.jpg") == "v3/fallback.png"


def test_cleaned_up__of_a_set_with_other_names_goes_by_kind(site):
    def variant(name, rule):
        return Variant(name=name, format=rule, width_max=9, height_max=9, quality=50)

    with site.rows():
        old = (variant("large", "avif"), variant("plain", "jpeg"))
        media = make_media(site.author, variants=old, contents={"large": ("avif", b"L"), "plain": ("jpeg", b"P")})
        add_version(media, contents=NEW)
        clean_up(media, 1)
    assert location(site, media, "v1/large.avif") == "v2/photo.avif"
    assert location(site, media, "v1/plain.jpg") == "v2/fallback.jpg"


@pytest.mark.parametrize("rest", ["v1/fallback.png", "v1/w960.avif", "v1/photo", "v1/original.jpg", "v4/photo.avif"])
def test_cleaned_up__redirects_only_what_was_an_address(site, media, rest):
    assert site.get(f"/media/{media.pk}/{rest}").status_code == 404


def test_cleaned_up__of_a_version_that_was_never_served_is_not_found(site):
    with site.rows():
        media = make_media(site.author, status="superseded", contents={}, width=400, height=300)
        add_version(media, contents=NEW)
    assert site.get(f"/media/{media.pk}/v1/photo.avif").status_code == 404


def test_cleaned_up__of_a_deleted_media_is_not_found(site, media):
    site.delete(media.pk)
    assert site.get(f"/media/{media.pk}/v1/photo.avif").status_code == 404


def test_superseded__is_immutable_within_its_grace(site):
    """Nothing redirects as long as the file is there."""
    with site.rows():
        media = make_media(site.author)
        add_version(media, contents=NEW)
        supersede(media, 1)
    response = site.get(f"/media/{media.pk}/v1/photo.avif")
    assert response.content == CONTENTS["photo"][1]
    assert "immutable" in response.headers["Cache-Control"]


def test_ready__without_its_row_does_not_redirect_to_itself(site):
    with site.rows():
        media = make_media(site.author)
        Rendition.objects.filter(version__media=media, variant="photo").delete()
    assert site.get(f"/media/{media.pk}/v1/photo.avif").status_code == 404


def test_cleaned_up__redirects_to_no_lost_file(site, media):
    with site.rows():
        media.refresh_from_db()
        lose(media, "photo")
    assert location(site, media, "v1/photo.avif") == "v2/fallback.jpg"
    with site.rows():
        lose(media, "fallback")
    assert site.get(f"/media/{media.pk}/v1/photo.avif").status_code == 404


@pytest.mark.parametrize(
    ("lost", "accept", "content"),
    [
        (["photo"], "*/*", CONTENTS["fallback"][1]),
        (["photo"], "image/avif", None),
        (["photo"], "image/jpeg", CONTENTS["fallback"][1]),
        (["fallback"], "*/*", CONTENTS["photo"][1]),
        (["fallback"], "image/jpeg", None),
        (["photo", "fallback"], "*/*", None),
    ],
)
def test_lost__gives_way_to_the_other_if_the_request_accepts_it(site, lost, accept, content):
    with site.rows():
        media = make_media(site.author)
        lose(media, *lost)
    response = site.get(f"/media/{media.pk}", headers={"Accept": accept})
    if content is None:
        assert (response.status_code, response.headers["Cache-Control"]) == (404, "no-store")
    else:
        assert response.content == content


def test_lost__is_not_found_at_its_own_address_and_said_in_the_status(site):
    with site.rows():
        media = make_media(site.author)
        lose(media, "fallback")
    assert site.get(f"/media/{media.pk}/v1/fallback.jpg").status_code == 404
    assert site.get(f"/media/{media.pk}/v1/photo.avif").status_code == 200
    renditions = site.get(f"/media/{media.pk}/status", headers=site.headers()).json()["renditions"]
    assert renditions["fallback"] == {"state": "lost"}
    assert renditions["photo"]["state"] == "ready"


def test_lost__of_a_superseded_version_is_not_found(site):
    with site.rows():
        media = make_media(site.author)
        lose(media, "photo")
        add_version(media, contents=NEW)
        supersede(media, 1)
        assert Version.objects.get(media=media, number=1).renditions.get(variant="photo").lost_at
    assert site.get(f"/media/{media.pk}/v1/photo.avif").status_code == 404
