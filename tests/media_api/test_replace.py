"""`PUT /media/{id}`: a new original for an image that keeps its address."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django_ox.models import OxTask

from tests.media_api.factory import CONTENTS, add_version, make_media, make_ready
from tests.media_api.site import form, read_response, request_head
from tests.media_api.test_upload import CEILING, FILE, assert_refused, named_files
from vernier.media.models import Media, Version

HUGE = 300_000_000
UNKNOWN = "b4f708c9-c3ac-4577-8a12-29ee8587ac9b"


@pytest.fixture
def media(site):
    with site.rows():
        return make_media(site.author)


def versions(site, media_id):
    with site.rows():
        return list(Version.objects.filter(media_id=media_id).order_by("number").values_list("number", "status"))


def put_form(site, media_id, body, **more):
    return site.exchange(request_head(site, start=f"PUT /media/{media_id}", length=len(body), **more), body)


def upload(site, content):
    return site.upload(content).json()["url"].rpartition("/")[2]


@pytest.mark.parametrize(
    "content_type", ["image/jpeg", "text/html", "application/x-www-form-urlencoded", "", 'x"; =;;;']
)
def test_replace__takes_the_raw_body_whatever_its_declared_type(site, media, jpeg, content_type):
    response = site.put(media.pk, jpeg, headers={"Content-Type": content_type})
    assert response.status_code == 202
    assert response.json() == {"url": f"{site.url}/media/{media.pk}", "version": 2}
    assert response.headers["Cache-Control"] == "no-store"
    with site.rows():
        version = Version.objects.get(media=media, number=2)
    assert (site.staging / version.staging_key).read_bytes() == jpeg


def test_replace__takes_a_form(site, media, jpeg):
    status, _, body = put_form(site, media.pk, form(('name="caption"', b"Hello"), (FILE, jpeg)))
    assert (status, b'"version": 2' in body) == (202, True)


def test_replace__of_the_newest_versions_own_bytes_changes_nothing(site, jpeg):
    media_id = upload(site, jpeg)
    response = site.put(media_id, jpeg)
    assert response.status_code == 200
    assert response.json() == {"url": f"{site.url}/media/{media_id}", "version": 1}
    assert versions(site, media_id) == [(1, "pending")]
    assert site.staged() == named_files(site)


def test_replace__of_an_older_versions_bytes_is_a_new_version(site, jpeg):
    media_id = upload(site, jpeg)
    site.put(media_id, jpeg + b"1")
    assert site.put(media_id, jpeg).json()["version"] == 3


def test_replace__with_the_bytes_that_failed_is_a_new_version(site, jpeg):
    with site.rows():
        media = make_media(site.author, status="ready")
    site.put(media.pk, jpeg)
    with site.rows():
        Version.objects.filter(media=media, number=2).update(
            status="failed", failure_code="out-of-memory", failed_at=media.created_at
        )
    assert site.put(media.pk, jpeg).json()["version"] == 3
    assert versions(site, media.pk) == [(1, "ready"), (2, "failed"), (3, "pending")]


def test_replace__during_processing_supersedes_what_is_processed(site, jpeg):
    with site.rows():
        media = make_media(site.author, status="processing", contents={})
    assert site.put(media.pk, jpeg).json()["version"] == 2
    assert versions(site, media.pk) == [(1, "superseded"), (2, "pending")]


def test_replace__serves_the_old_version_until_the_new_one_is_ready(site, media, jpeg):
    """A replacement that is refused, fails or waits leaves the old image as it was."""
    address = f"/media/{media.pk}"
    assert site.put(media.pk, b"%PDF-1.7" + b"x" * 100).status_code == 415
    assert site.put(media.pk, jpeg).status_code == 202
    assert site.get(address).content == CONTENTS["photo"][1]
    with site.rows():
        media.refresh_from_db()
        add_version(media, status="failed", contents={})
    assert site.get(address).content == CONTENTS["photo"][1]


def test_replace__that_is_rolled_back_leaves_no_job(site, media, jpeg):
    """Nothing is cleaned up, purged or processed for what was not committed."""
    assert site.put(media.pk, jpeg, headers={"Idempotency-Key": "R2"}).status_code == 202
    with site.rows():
        before = OxTask.objects.count()
    assert site.put(media.pk, jpeg + b"1", headers={"Idempotency-Key": "R2"}).status_code == 422
    with site.rows():
        assert OxTask.objects.count() == before
    assert versions(site, media.pk) == [(1, "ready"), (2, "pending")]
    assert site.get(f"/media/{media.pk}").content == CONTENTS["photo"][1]


def test_replace__two_at_once_each_get_a_number_of_their_own(site, jpeg):
    for round_number in range(4):
        media_id = upload(site, jpeg + bytes([round_number]))
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda text, to=media_id: site.put(to, jpeg + text), (b"one", b"two")))
        assert {answer.status_code for answer in answers} == {202}
        assert sorted(answer.json()["version"] for answer in answers) == [2, 3]
        assert versions(site, media_id) == [(1, "superseded"), (2, "superseded"), (3, "pending")]
        newest = max(answers, key=lambda answer: answer.json()["version"])
        with site.rows():
            make_ready(Media.objects.get(pk=media_id))
            serving = Media.objects.get(pk=media_id).current.number
        assert newest.json()["version"] == serving


def test_replace__two_at_once_with_the_same_bytes_make_one_version(site, media, jpeg):
    """One wins, the other gets the same, and nobody a database error."""
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: site.put(media.pk, jpeg), range(4)))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 202]
    assert {answer.json()["version"] for answer in answers} == {2}
    assert site.staged() == named_files(site)


def test_replace__two_at_once_with_one_key_make_one_version(site, media, jpeg):
    with ThreadPoolExecutor(4) as pool:
        headers = {"Idempotency-Key": "U2"}
        answers = list(pool.map(lambda _: site.put(media.pk, jpeg, headers=headers), range(4)))
    assert {(answer.status_code, answer.json()["version"]) for answer in answers} == {(202, 2)}
    assert site.staged() == named_files(site)


def test_replace__again_after_a_lost_answer_is_the_same_version(site, media, jpeg, wait_until):
    """The client did not hear the answer, and another replacement came between."""
    head = request_head(
        site, start=f"PUT /media/{media.pk}", length=len(jpeg), content_type="", more=["Idempotency-Key: U1"]
    )
    with site.connect() as connection:
        connection.sendall(head + jpeg)
        wait_until(lambda: len(versions(site, media.pk)) == 2)
    assert site.put(media.pk, jpeg + b"1").json()["version"] == 3
    again = site.put(media.pk, jpeg, headers={"Idempotency-Key": "U1"})
    assert (again.status_code, again.json()["version"]) == (202, 2)
    assert versions(site, media.pk) == [(1, "ready"), (2, "superseded"), (3, "pending")]


def test_idempotency_key__is_one_for_each_media_and_operation(site, media, jpeg):
    headers = {"Idempotency-Key": "anything"}
    other = site.upload(jpeg + b"1", headers=headers).json()["url"].rpartition("/")[2]
    assert site.put(media.pk, jpeg, headers=headers).json()["version"] == 2
    assert site.put(other, jpeg, headers=headers).json()["version"] == 2


@pytest.mark.parametrize("key", ["", "k" * 256])
def test_idempotency_key__that_is_none_is_refused_before_the_body(site, media, key):
    head = request_head(site, start=f"PUT /media/{media.pk}", length=100_000, more=[f"Idempotency-Key: {key}"])
    assert_refused(site, site.exchange(head), 400, "Idempotency-Key")


@pytest.mark.parametrize("media_id", [UNKNOWN, "x", "", UNKNOWN.replace("-", ""), "%00"])
def test_replace__of_what_does_not_exist_is_refused_before_the_body(site, media_id):
    head = request_head(site, start=f"PUT /media/{media_id}", length=HUGE)
    assert_refused(site, site.exchange(head), 404, "not_found")


def test_replace__of_anothers_or_a_deleted_media_is_refused_before_the_body(site, media):
    head = request_head(site, start=f"PUT /media/{media.pk}", length=HUGE)
    other = head.replace(site.token.encode(), site.token_for("bob", "update media").encode())
    assert_refused(site, site.exchange(other), 404)
    site.delete(media.pk)
    assert_refused(site, site.exchange(head), 404)


def test_replace__checks_the_token_before_anything_else(site):
    for media_id in (UNKNOWN, "x"):
        head = request_head(site, start=f"PUT /media/{media_id}", length=HUGE, token="unknown")
        assert_refused(site, site.exchange(head), 401, "invalid_token")


def test_replace__without_the_scope_names_it(site, media):
    token = site.token_for("ann", "create delete")
    head = request_head(site, start=f"PUT /media/{media.pk}", length=HUGE, token=token)
    status, headers, _ = site.exchange(head)
    assert status == 401
    assert 'error="insufficient_scope", scope="update"' in headers["www-authenticate"]


@pytest.mark.parametrize(
    ("content_type", "body", "status", "words"),
    [
        ("image/jpeg", b"", 400, "0 bytes"),
        ("image/jpeg", b"%PDF-1.7" + b"x" * 100, 415, "JPEG"),
        ("image/jpeg", b"\xff\xd8\xff" + b"x" * CEILING, 413, str(CEILING)),
        ("multipart/form-data; boundary=b", form(('name="photo"', b"x")), 400, "“photo”"),
        ("multipart/form-data; boundary=b", form((FILE, b"\xff\xd8\xff"))[:-4], 400, "closing boundary"),
        ("multipart/form-data; boundary=b", b"\xff\xd8\xff" + b"x" * 100, 400, "cannot be read"),
        ("multipart/form-data", b"x", 400, "boundary"),
        ("multipart/mixed; boundary=b", form((FILE, b"\xff\xd8\xff")), 400, "multipart/mixed"),
    ],
)
def test_replace__refuses_what_an_upload_is_refused_for(site, media, content_type, body, status, words):  # noqa: PLR0917
    assert_refused(site, put_form(site, media.pk, body, content_type=content_type), status, words)
    assert versions(site, media.pk) == [(1, "ready")]


def test_replace__at_the_ceiling_is_accepted(site, media):
    assert site.put(media.pk, b"\xff\xd8\xff" + b"x" * (CEILING - 3)).status_code == 202


def test_replace__over_the_ceiling_by_its_length_is_not_read(site, media):
    head = request_head(site, start=f"PUT /media/{media.pk}", length=CEILING + 1, content_type="image/jpeg")
    assert_refused(site, site.exchange(head), 413, str(CEILING))


def test_replace__without_a_length(site, media, jpeg):
    head = request_head(site, start=f"PUT /media/{media.pk}", more=["Transfer-Encoding: chunked"], content_type="")
    assert_refused(site, site.exchange(head, b"%x\r\n%b\r\n0\r\n\r\n" % (len(jpeg), jpeg)), 411, "chunked")


def test_replace__with_a_part_of_a_file_is_refused(site, media, jpeg):
    response = site.put(media.pk, jpeg, headers={"Content-Range": "bytes 0-99/2000"})
    assert response.status_code == 400
    assert "Content-Range" in response.json()["error_description"]


def test_replace__cut_off_by_the_client_leaves_nothing(site, media, wait_until):
    before = len(named_files(site))
    with site.connect() as connection:
        connection.sendall(request_head(site, start=f"PUT /media/{media.pk}", length=900_000, content_type=""))
        connection.sendall(b"\xff\xd8\xff" + b"x" * 500_000)
        wait_until(lambda: len(site.staged()) > before)
    wait_until(lambda: len(site.staged()) == before)
    assert versions(site, media.pk) == [(1, "ready")]


def test_replace__of_a_media_that_is_deleted_meanwhile_is_not_found(site, media, wait_until):
    content = b"\xff\xd8\xff" + b"x" * 500_000
    before = site.staged()
    with site.connect() as connection:
        connection.sendall(
            request_head(site, start=f"PUT /media/{media.pk}", length=len(content), content_type="")
            + content[:300_000]
        )
        wait_until(lambda: site.staged() != before)
        assert site.delete(media.pk).status_code == 204
        connection.sendall(content[300_000:])
        assert_refused(site, read_response(connection), 404, "not_found")
    assert site.staged() == before
    assert site.get(f"/media/{media.pk}").status_code == 404


def test_replace__and_delete_at_once_end_deleted(site, jpeg):
    for _ in range(5):
        with site.rows():
            media = make_media(site.author)
        gate = threading.Barrier(2)

        def put(media_id=media.pk, gate=gate):
            gate.wait()
            return site.put(media_id, jpeg)

        with ThreadPoolExecutor(1) as pool:
            putting = pool.submit(put)
            gate.wait()
            assert site.delete(media.pk).status_code == 204
            assert putting.result().status_code in {202, 404}
        assert site.get(f"/media/{media.pk}").status_code == 404
        assert "pending" not in dict(versions(site, media.pk)).values()


@pytest.mark.parametrize("path", ["/v1/photo.avif", "/status", "/"])
def test_replace__is_for_the_medias_own_address(site, media, path):
    status, headers, _ = put_form(site, f"{media.pk}{path}", b"x")
    assert (status, headers["content-type"]) == (405, "application/json")


@pytest.mark.parametrize(
    ("path", "methods"),
    [("", "GET, HEAD, POST"), (f"/{UNKNOWN}", "GET, HEAD, PUT, DELETE"), (f"/{UNKNOWN}/status", "GET, HEAD")],
)
def test_preflight__names_the_methods(site, path, methods):
    with site.connect() as connection:
        connection.sendall(
            f"OPTIONS /media{path} HTTP/1.1\r\nHost: localhost\r\nOrigin: https://x.example\r\n\r\n".encode()
        )
        status, headers, _ = read_response(connection)
    assert status == 204
    assert headers["access-control-allow-methods"] == methods
    assert headers["access-control-allow-origin"] == "*"
    assert "Authorization" in headers["access-control-allow-headers"]


def test_answers__can_be_read_by_scripts_of_any_origin(site, media, jpeg):
    answers = [
        site.put(media.pk, jpeg),
        site.put(UNKNOWN, jpeg),
        site.delete(UNKNOWN),
        site.get(f"/media/{media.pk}/status", headers=site.headers()),
        site.delete(media.pk),
    ]
    assert [answer.status_code for answer in answers] == [202, 404, 404, 200, 204]
    assert {answer.headers["Access-Control-Allow-Origin"] for answer in answers} == {"*"}
