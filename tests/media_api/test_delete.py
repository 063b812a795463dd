"""`DELETE /media/{id}`: afterwards there is nothing, at any address, for anybody."""

import pytest

from tests.media_api.factory import add_version, make_media, supersede
from tests.media_api.site import form, post_form
from tests.media_api.test_upload import FILE, assert_refused
from vernier.media.models import Media, Rendition, Version

UNKNOWN = "b4f708c9-c3ac-4577-8a12-29ee8587ac9b"


@pytest.fixture
def media(site):
    """A Media with a Version that is served, an older one within its grace and a newer one in processing."""
    with site.rows():
        media = make_media(site.author)
        add_version(media)
        supersede(media, 1)
        add_version(media, status="processing", contents={})
        return media


def addresses(media):
    versioned = [f"/v{number}/{name}" for number in (1, 2, 3) for name in ("photo.avif", "fallback.jpg")]
    return [f"/media/{media.pk}{path}" for path in ("", *versioned)]


def test_delete__leaves_nothing_at_any_address(site, media):
    """Absence is seen, not believed."""
    assert [site.get(address).status_code for address in addresses(media)] == [200] * 5 + [404] * 2
    response = site.delete(media.pk)
    assert (response.status_code, response.content) == (204, b"")
    for address in addresses(media):
        answer = site.get(address)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (404, "no-store")
    assert site.get(f"/media/{media.pk}/status", headers=site.headers()).status_code == 404


def test_delete__ends_what_was_processed(site, media):
    site.delete(media.pk)
    with site.rows():
        assert Version.objects.get(media=media, number=3).status == "superseded"
        assert not Rendition.objects.filter(version__media=media).exists()


def test_delete__is_answered_the_same_the_second_time(site, media):
    assert [site.delete(media.pk).status_code for _ in range(3)] == [204, 204, 204]
    with site.rows():
        first = Media.objects.get(pk=media.pk).deleted_at
    site.delete(media.pk)
    with site.rows():
        assert Media.objects.get(pk=media.pk).deleted_at == first


@pytest.mark.parametrize("media_id", [UNKNOWN, UNKNOWN.replace("-", ""), "x", "%00"])
def test_delete__of_what_does_not_exist_is_not_found(site, media_id):
    response = site.delete(media_id)
    assert response.status_code == 404
    assert response.json()["error"] == "not_found"


def test_delete__of_anothers_media_is_not_found_and_does_nothing(site, media):
    other = {"Authorization": f"Bearer {site.token_for('bob', 'delete')}"}
    assert site.delete(media.pk, headers=other).status_code == 404
    assert site.get(f"/media/{media.pk}").status_code == 200
    site.delete(media.pk)
    assert site.delete(media.pk, headers=other).status_code == 404


def test_delete__without_the_scope_names_it(site, media):
    token = site.token_for("ann", "create update media")
    response = site.delete(media.pk, headers={"Authorization": f"Bearer {token}"})
    assert response.status_code == 401
    assert 'scope="delete"' in response.headers["WWW-Authenticate"]
    assert site.get(f"/media/{media.pk}").status_code == 200


def test_delete__takes_no_session(site, media):
    """A page of another site can make a browser send a cookie, but not a token."""
    response = site.delete(media.pk, headers={"Authorization": "", "Cookie": f"sessionid={session(site)}"})
    assert response.status_code == 401


def session(site):
    return site.session_cookie(site.author)["sessionid"]


def test_delete__forgets_no_key(site, jpeg):
    """A client that repeats its upload after a deletion gets the old answer, and brings nothing back."""
    more = ["Idempotency-Key: deleted"]
    body = form((FILE, jpeg))
    first = post_form(site, body, more=more)
    media_id = first[1]["location"].rpartition("/")[2]
    site.delete(media_id)
    assert post_form(site, body, more=more)[1]["location"] == first[1]["location"]
    assert site.get(f"/media/{media_id}").status_code == 404


def test_delete__answers_503_while_the_database_is_locked(start_site):
    site = start_site(env={"MEDIA_API_DATABASE_TIMEOUT_SECONDS": "0.2"})
    with site.rows():
        from django.db import connection

        media = make_media(site.author)
        with connection.cursor() as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            answer = site.delete(media.pk)
            cursor.execute("ROLLBACK")
    assert_refused(site, (answer.status_code, answer.headers, answer.content), 503)
    assert int(answer.headers["retry-after"]) > 0
