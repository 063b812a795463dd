"""`POST /media`: what a client meets, over real sockets."""

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.media_api.site import form, post_form, read_response, request_head
from vernier.media.models import Version

FILE = 'name="file"; filename="photo.jpg"'
CEILING = 1024 * 1024


def named_files(site):
    """Return the staged files that a row names: there should be no other."""
    with site.rows():
        return sorted(Version.objects.exclude(staging_key="").values_list("staging_key", flat=True))


def assert_refused(site, answer, status, *words):
    """The answer is JSON with a sentence in it, and nothing of the upload is left."""
    received, headers, body = answer
    assert received == status, body
    assert headers["content-type"] == "application/json"
    for word in words:
        assert word in body.decode()
    assert b"error_description" in body
    assert site.staged() == named_files(site)


def test_upload__is_accepted_with_its_address_in_header_and_body(site, jpeg):
    response = site.upload(jpeg)
    assert response.status_code == 201
    assert response.json() == {"url": response.headers["Location"]}
    assert response.headers["Location"].startswith(f"{site.url}/media/")


def test_upload__stores_the_bytes_once_and_unchanged(site):
    content = b"\xff\xd8\xff" + bytes(range(256)) * 3000
    media_id = site.upload(content).json()["url"].rpartition("/")[2]
    with site.rows():
        version = Version.objects.get(media_id=media_id)
    assert (site.staging / version.staging_key).read_bytes() == content
    assert version.byte_size == len(content)


@pytest.mark.parametrize(
    "part",
    [
        ('name="file"',),
        ("name=file",),
        ('name="file"; filename="../../x\\".jpg"', "Content-Type: text/plain"),
        ('name="file"; filename=""', "Content-Type: application/octet-stream"),
        ('name="file"; filename="' + "x" * 5000 + '"',),
        ("name=\"file\"; filename*=utf-8''%e2%82%ac.jpg", "X-Anything: 1"),
    ],
)
def test_upload__takes_the_part_however_it_is_labelled(site, jpeg, part):
    parameters, *lines = part
    status, _, body = post_form(site, form((parameters, jpeg, *lines)))
    assert status == 201, body


def test_upload__ignores_small_fields_beside_the_file(site, jpeg):
    status, _, _ = post_form(site, form(('name="caption"', b"Hello"), (FILE, jpeg), ('name="more"', b"")))
    assert status == 201


def test_upload__with_another_token_in_the_form_is_refused(site, jpeg):
    other = site.token_for("bob", "media").encode()
    for parts in ((FILE, jpeg), ('name="access_token"', other)), (('name="access_token"', other), (FILE, jpeg)):
        assert_refused(site, post_form(site, form(*parts)), 400, "two different access tokens")


def test_upload__with_its_token_in_the_form_too_is_refused_where_it_is_strict(site, start_site, jpeg):
    strict_site = start_site(media_api={"STRICT": True})
    mild, strict = (
        post_form(server, form((FILE, jpeg), ('name="access_token"', server.token.encode())))
        for server in (site, strict_site)
    )
    assert (mild[0], strict[0], strict[2]) == (201, 400, b"")
    assert 'error="invalid_request"' in strict[1]["www-authenticate"]
    assert strict_site.staged() == []


def test_upload__may_follow_another_on_the_same_connection(site, jpeg):
    body = form((FILE, jpeg))
    with site.connect() as connection:
        for _ in range(3):
            connection.sendall(request_head(site, length=len(body)) + body)
            assert read_response(connection)[0] == 201


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (form(), "received: none"),
        (form(('name="photo"', b"x")), "“photo”"),
        (form(('name="photo"; filename="a.jpg"', b"x")), "“photo”"),
        (form((FILE, b"\xff\xd8\xff" + b"x" * 100), (FILE, b"\xff\xd8\xff")), "two parts"),
        (form((FILE, b"")), "0 bytes"),
        (form((FILE, b"\xff\xd8\xff" + b"x" * 100), end="\r\n--"), "cannot be read"),
        (form((FILE, b"\xff\xd8\xff"))[:-4], "closing boundary"),
        (b"no multipart at all", "cannot be read"),
        (b"", "closing boundary"),
        (form(*[(f'name="f{number}"', b"") for number in range(30)]), "more than 20 parts"),
        (form(('name="caption"', b"x" * 70_000)), "more than 65536 bytes"),
        (form((FILE, b"x", "X: " + "y" * 20_000)), "cannot be read"),
    ],
)
def test_upload__names_what_is_wrong_with_the_form(site, body, words):
    assert_refused(site, post_form(site, body), 400, words, "invalid_request")


@pytest.mark.parametrize(
    "content_type",
    ["image/jpeg", "multipart/form-data", "multipart/form-data; boundary=" + "b" * 300, "", 'x"; =;;;\xff'],
)
def test_upload__wants_a_form(site, content_type):
    body = form((FILE, b"x"))
    head = request_head(site, length=len(body)).replace(
        b"multipart/form-data; boundary=b", content_type.encode("latin-1")
    )
    assert_refused(site, site.exchange(head, body), 400, "invalid_request")


def test_upload__of_a_type_off_the_allowlist(site):
    assert_refused(site, post_form(site, form((FILE, b"%PDF-1.7" + b"x" * 100))), 415, "JPEG")


def test_upload__of_a_refused_type_is_answered_before_the_rest_arrives(site):
    body = form((FILE, b"GIF89a" + b"x" * 500_000))
    with site.connect() as connection:
        connection.sendall(request_head(site, length=len(body)) + body[:2000])
        assert read_response(connection)[0] == 415


def test_upload__without_a_length(site):
    assert_refused(site, site.exchange(request_head(site)), 411, "Content-Length")


def test_upload__chunked_is_told_why(site, jpeg):
    body = form((FILE, jpeg))
    chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    head = request_head(site, more=["Transfer-Encoding: chunked"])
    assert_refused(site, site.exchange(head, chunks), 411, "chunked")


def test_upload__over_the_ceiling_by_its_length_is_not_read(site):
    with site.connect() as connection:
        connection.sendall(request_head(site, length=CEILING * 300))
        assert_refused(site, read_response(connection), 413, str(CEILING))


def test_upload__at_the_ceiling_is_accepted_and_one_byte_more_is_not(site):
    content = b"\xff\xd8\xff" + b"x" * (CEILING - 3)
    assert post_form(site, form((FILE, content)))[0] == 201
    assert_refused(site, post_form(site, form((FILE, content + b"x"))), 413, str(CEILING))


def test_upload__cut_off_by_the_client_leaves_nothing(site, wait_until):
    before = len(named_files(site))
    with site.connect() as connection:
        connection.sendall(request_head(site, length=900_000) + form((FILE, b"\xff\xd8\xff" + b"x" * 500_000)))
        wait_until(lambda: len(site.staged()) > before)
    wait_until(lambda: len(site.staged()) == before)
    assert len(named_files(site)) == before


def test_upload__fails_cleanly_where_the_disk_is_full(full_site):
    assert_refused(full_site, post_form(full_site, form((FILE, b"\xff\xd8\xff" + b"x" * 900_000))), 507, "space")


def test_idempotency_key__repeats_the_answer(site, jpeg):
    first, again = (site.upload(jpeg, headers={"Idempotency-Key": "same"}) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert site.staged() == named_files(site)


def test_idempotency_key__of_two_requests_at_once_makes_one_media(site, jpeg):
    def upload(_):
        return site.upload(jpeg, headers={"Idempotency-Key": "at once"})

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(upload, range(4)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["url"] for answer in answers}) == 1
    assert site.staged() == named_files(site)


def test_idempotency_key__with_other_bytes_is_refused(site, jpeg):
    site.upload(jpeg, headers={"Idempotency-Key": "other"})
    body = form((FILE, jpeg + b"1"))
    assert_refused(site, post_form(site, body, more=["Idempotency-Key: other"]), 422)


@pytest.mark.parametrize("key", ["", "k" * 256, "\xe4"])
def test_idempotency_key__that_is_none_is_refused_before_the_body(site, key):
    head = request_head(site, length=100_000, more=["X: y"]).replace(
        b"X: y", f"Idempotency-Key: {key}".encode("latin-1")
    )
    assert_refused(site, site.exchange(head), 400, "Idempotency-Key")


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("expect", ["Expect:", "Expect: 100-continue"])
def test_upload__curl_sees_why_a_large_file_is_refused(site, tmp_path, expect):
    large = tmp_path / "large.jpg"
    large.write_bytes(b"\xff\xd8\xff" + bytes(30_000_000))
    command = ["curl", "-sS", "-w", "%{http_code}", "-H", f"Authorization: Bearer {site.token}", "-H", expect]
    done = subprocess.run(
        [*command, "-F", f"file=@{large}", f"{site.url}/media"],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert done.stdout.endswith("413"), done
    assert "too_large" in done.stdout


def test_upload__of_100_mb_takes_little_memory(start_site):
    site = start_site(media={"UPLOAD_MAX_BYTES": 200_000_000})
    assert site.upload(b"\xff\xd8\xff" + b"x" * 1_000_000).status_code == 201
    before = peak_kib(site)
    body = form((FILE, b"\xff\xd8\xff" + bytes(100_000_000)))
    assert post_form(site, body)[0] == 201
    assert peak_kib(site) - before < 40 * 1024


def peak_kib(site):
    lines = Path(f"/proc/{site.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def test_upload__that_a_stopping_server_cuts_leaves_nothing(start_site, wait_until):
    site = start_site()
    with site.connect() as connection:
        connection.sendall(request_head(site, length=900_000) + form((FILE, b"\xff\xd8\xff" + b"x" * 500_000)))
        wait_until(site.staged)
        assert site.stop() == 0
        assert read_response(connection)[0] == 503
    assert site.staged() == []


def test_upload__answers_503_while_the_database_is_locked(start_site, jpeg):
    site = start_site(env={"MEDIA_API_DATABASE_TIMEOUT_SECONDS": "0.2"})
    with site.rows():
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            answer = post_form(site, form((FILE, jpeg)))
            cursor.execute("ROLLBACK")
    assert_refused(site, answer, 503)
    assert int(answer[1]["retry-after"]) > 0
