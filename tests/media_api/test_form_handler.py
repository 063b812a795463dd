"""Forms with photos beside their fields: what a client meets, over real sockets."""

import hashlib
import json
import socket
import struct

import httpx
import pytest

from tests.media_api.forms import FILES_MAX
from tests.media_api.site import form, post_form, read_response, request_head
from tests.media_api.test_upload import named_files, peak_kib

CEILING = 1024 * 1024
TEXT_CEILING = 1024 * 1024
PHOTO = 'name="photo"; filename="a.jpg"'
PHOTOS = 'name="photo[]"; filename="b.jpg"'


def jpeg_of(size, *, fill=b"x"):
    return b"\xff\xd8\xff" + fill * (size - 3)


def post(site, *parts, path="/form", **more):
    """Post the form and return the answer's status and JSON."""
    status, _, body = post_form(site, form(*parts), start=f"POST {path}", **more)
    return status, json.loads(body or b"null")


def values(answer, name):
    return [value for field, value in answer["fields"] if field == name]


def assert_nothing_unnamed(site, wait_until):
    """Of what was sent only that is left which a row names."""
    wait_until(lambda: site.staged() == named_files(site))


def test_form__keeps_files_and_text_in_their_order(site, jpeg):
    parts = [(PHOTO, jpeg), ('name="photo"', b"https://example.org/c.jpg"), (PHOTO, jpeg + b"1"), (PHOTOS, jpeg)]
    status, answer = post(site, ('name="h"', b"entry"), *parts, ('name="content"', "Häß & 1+1=100%".encode()))
    assert status == 200, answer
    names = ["h", "photo", "photo", "photo", "photo[]", "content"]
    assert [name for name, _ in answer["fields"]] == names
    first, url, second, _ = [value for name, value in answer["fields"] if name.startswith("photo")]
    assert url == "https://example.org/c.jpg"
    assert [first["sha256"], second["sha256"]] == [hashlib.sha256(it).hexdigest() for it in (jpeg, jpeg + b"1")]
    assert (first["field"], first["filename"], first["bytes"]) == ("photo", "a.jpg", len(jpeg))


def test_form__gives_django_its_text_and_no_files(site, jpeg):
    text = "a=b&c;d %41 +\r\n\u0000"[:-1] + "ü€𝄞"
    _, answer = post(site, ('name="a b"', text.encode()), (PHOTO, jpeg), ('name="a b"', b""), ('name="ü"', b"2"))
    assert answer["post"] == {"a b": [text, ""], "ü": ["2"]}
    assert answer["files"] == 0


def test_form__stages_each_accepted_file_unchanged(site, wait_until):
    content = b"\xff\xd8\xff" + bytes(range(256)) * 3000
    _, answer = post(site, (PHOTO, content))
    assert answer["fields"][0][1]["url"].startswith(f"{site.url}/media/")
    stored = {hashlib.sha256((site.staging / name).read_bytes()).hexdigest() for name in named_files(site)}
    assert answer["fields"][0][1]["sha256"] in stored
    assert_nothing_unnamed(site, wait_until)


@pytest.mark.parametrize(
    ("content", "status", "why"),
    [
        (b"%PDF-1.7" + b"x" * 500_000, 415, "JPEG"),
        (b"GIF89a", 415, "GIF"),
        (b"", 400, "0 bytes"),
        (jpeg_of(CEILING + 1), 413, str(CEILING)),
    ],
)
def test_form__with_a_refused_file_keeps_everything_else(site, wait_until, content, status, why):
    photos = [(PHOTO, content), (PHOTO, jpeg_of(2000))]
    answered, answer = post(site, ('name="content"', b"Text"), *photos, ('name="x"', b"y"))
    assert answered == 200, answer
    refused, accepted = values(answer, "photo")
    assert (refused["refused"], refused["bytes"], refused["sha256"]) == (status, len(content), "")
    assert why in refused["why"]
    assert accepted["url"]
    assert (values(answer, "content"), values(answer, "x")) == (["Text"], ["y"])
    assert_nothing_unnamed(site, wait_until)


def test_form__at_the_ceiling_of_one_file(site):
    _, answer = post(site, (PHOTO, jpeg_of(CEILING)))
    assert "url" in answer["fields"][0][1]


@pytest.mark.parametrize(("name", "kept"), [("photo", [["photo", ""]]), ("avatar", [])])
def test_form__keeps_of_an_empty_file_input_the_place(site, name, kept):
    empty = (f'name="{name}"; filename=""', b"", "Content-Type: application/octet-stream")
    _, answer = post(site, empty, ('name="content"', b"Text"))
    assert answer["fields"] == [*kept, ["content", "Text"]]


@pytest.mark.parametrize(
    "part",
    [
        ('name="photo"; filename=""',),
        ("name=photo; filename=x", "Content-Type: text/plain"),
        ('name="photo"', "Content-Type: image/jpeg"),
        ('name="photo"; filename="' + "x" * 5000 + '"',),
    ],
)
def test_form__takes_a_photo_however_it_is_labelled(site, jpeg, part):
    parameters, *lines = part
    status, answer = post(site, (parameters, jpeg, *lines))
    assert status == 200
    assert len(answer["fields"][0][1]["filename"]) <= 255
    assert answer["fields"][0][1]["url"]


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\\\photos\\\\a.jpg", "a.jpg"),
        ("/", ""),
        ("..", ""),
        ("a\u202egpj.exe", "a\ufffdgpj.exe"),
        ("ü.jpg", "ü.jpg"),
    ],
)
def test_form__shows_no_more_of_a_file_name_than_is_harmless(site, jpeg, wait_until, sent, kept):
    _, answer = post(site, (f'name="photo"; filename="{sent}"', jpeg))
    assert answer["fields"][0][1]["filename"] == kept
    assert_nothing_unnamed(site, wait_until)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([('name="avatar"; filename="a.jpg"', b"x")], "“avatar”; valid are “photo”, “photo[]”"),
        ([('name="avatar"; filename=""', b"x")], "“avatar”"),
        ([(PHOTO, jpeg_of(100))] * (FILES_MAX + 1), f"more than {FILES_MAX} files"),
        ([(PHOTO, jpeg_of(100)), ('name="content"', b"\xff")], "“content” is not in UTF-8"),
        ([(PHOTO, jpeg_of(100)), ('name="content"', b"a\0b")], "“content” has a NUL"),
        ([('name="a\0"', b"a")], "NUL"),
        ([("", b"a")], "has no name"),
        ([('name="x"', b"")] * 1101, "more than 1100 parts"),
    ],
)
def test_form__names_what_is_wrong_with_it(site, wait_until, parts, words):
    status, answer = post(site, *parts)
    assert (status, answer["error"]) == (400, "invalid_request")
    assert words in answer["error_description"]
    assert_nothing_unnamed(site, wait_until)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (form((PHOTO, jpeg_of(5000)))[:-4], "multipart/form-data; boundary=b"),
        (form((PHOTO, jpeg_of(5000)), end="\r\n--"), "multipart/form-data; boundary=b"),
        (b"", "multipart/form-data; boundary=b"),
        (b"no form", "multipart/form-data; boundary=b"),
        (form((PHOTO, jpeg_of(5000))), "multipart/form-data"),
        (form((PHOTO, jpeg_of(5000))), f"multipart/form-data; boundary={'b' * 300}"),
    ],
)
def test_form__that_is_not_whole_is_refused(site, wait_until, body, content_type):
    status, _, _ = post_form(site, body, start="POST /form", content_type=content_type)
    assert status == 400
    assert_nothing_unnamed(site, wait_until)


def test_form__has_room_for_a_post_of_a_thousand_properties(site):
    status, answer = post(site, *[(f'name="p{number}"', b"v") for number in range(999)])
    assert (status, len(answer["fields"])) == (200, 999)


def test_form__has_room_for_long_text_in_any_script(site):
    text = "ж" * (TEXT_CEILING // 2 - 100)
    status, answer = post(site, ('name="content"', text.encode()))
    assert (status, answer["post"]["content"]) == (200, [text])


@pytest.mark.parametrize("text", [b"x" * TEXT_CEILING, b"&" * (TEXT_CEILING // 2)])
def test_form__with_too_much_text(site, jpeg, wait_until, text):
    status, answer = post(site, (PHOTO, jpeg), ('name="content"', text))
    assert (status, answer["error"]) == (413, "too_large")
    assert answer["error_description"].startswith("The fields beside the files")
    assert_nothing_unnamed(site, wait_until)


def test_form__chunked_is_told_why(site, jpeg):
    body = form((PHOTO, jpeg))
    head = request_head(site, start="POST /form", more=["Transfer-Encoding: chunked"])
    status, _, answer = site.exchange(head, b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
    assert status == 411
    assert "chunked" in answer.decode()


def test_form__over_the_ceiling_by_its_length_is_not_read(site):
    with site.connect() as connection:
        connection.sendall(request_head(site, start="POST /form", length=(FILES_MAX + 2) * CEILING))
        status, _, answer = read_response(connection)
    assert status == 413
    assert f"{FILES_MAX} files of at most {CEILING} bytes" in answer.decode()


def test_form__is_refused_as_its_endpoint_does(site):
    status, _, answer = post_form(site, form(("", b"")), start="POST /form/page")
    assert status == 400
    assert answer.startswith(b"<p>A part has no name")


def test_form__of_an_unknown_sender_is_left_to_the_view_without_its_files(site, jpeg, wait_until):
    parts = form(('name="content"', b"Text"), (PHOTO, jpeg * 100), (PHOTO, jpeg))
    status, headers, _ = post_form(site, parts, start="POST /form", token="")
    assert (status, headers["location"]) == (303, "/login")
    assert_nothing_unnamed(site, wait_until)


@pytest.mark.parametrize("where", ["before", "after"])
def test_form__may_be_refused_to_its_sender(site, jpeg, wait_until, where):
    token = {"token": "wrong"} if where == "before" else {"token": ""}
    status, answer = post(site, ('name="access_token"', b"wrong"), (PHOTO, jpeg), **token)
    assert (status, answer["error"]) == (401, "invalid_token")
    assert_nothing_unnamed(site, wait_until)


def test_form__may_be_refused_to_its_sender_before_its_body(site):
    with site.connect() as connection:
        connection.sendall(request_head(site, start="POST /form", length=100_000, token="wrong"))
        assert read_response(connection)[0] == 401


def test_form__takes_a_token_from_a_field_before_the_files(site, jpeg):
    status, answer = post(site, ('name="access_token"', site.token.encode()), (PHOTO, jpeg), token="")
    assert status == 200
    assert values(answer, "photo")[0]["url"]


def test_form__says_that_a_token_after_the_files_is_too_late(site, jpeg, wait_until):
    parts = [(PHOTO, jpeg), ('name="access_token"', site.token.encode()), (PHOTO, jpeg)]
    status, answer = post(site, *parts, token="")
    assert status == 200
    assert {photo["refused"] for photo in values(answer, "photo")} == {400}
    assert "before the files" in values(answer, "photo")[0]["why"]
    assert_nothing_unnamed(site, wait_until)


def test_form__whose_view_accepts_nothing_leaves_nothing(site, jpeg, wait_until):
    before = len(named_files(site))
    assert post(site, (PHOTO, jpeg), (PHOTO, jpeg), path="/form/refused") == (422, {"files": 2})
    assert_nothing_unnamed(site, wait_until)
    assert len(named_files(site)) == before


def test_form__is_not_accepted_within_a_transaction(site, jpeg, wait_until):
    status, _, _ = post_form(site, form((PHOTO, jpeg)), start="POST /form/hasty")
    assert status == 500
    assert_nothing_unnamed(site, wait_until)


@pytest.mark.parametrize(("sends_token", "status"), [(True, 200), (False, 403)])
def test_form__passes_the_csrf_check_with_the_token_in_a_field(site, jpeg, sends_token, status):
    with httpx.Client(base_url=site.url, headers=site.headers()) as client:
        token = client.get("/form/csrf").json()["token"]
        data = {"csrfmiddlewaretoken": token} if sends_token else {}
        answer = client.post("/form/csrf", data=data, files={"photo": ("a.jpg", jpeg)})
    assert answer.status_code == status


def test_form__may_follow_another_on_the_same_connection(site, jpeg):
    body = form((PHOTO, jpeg))
    with site.connect() as connection:
        for _ in range(3):
            connection.sendall(request_head(site, start="POST /form", length=len(body)) + body)
            assert read_response(connection)[0] == 200


@pytest.mark.parametrize(
    ("start", "content_type", "status"),
    [
        ("POST /form", "application/x-www-form-urlencoded", 200),
        ("POST /media", "multipart/form-data; boundary=b", 400),
        ("POST /unknown", "multipart/form-data; boundary=b", 404),
        ("PUT /media/x", "multipart/form-data; boundary=b", 404),
    ],
)
def test_handler__leaves_every_other_request_alone(site, start, content_type, status):
    answered, _, _ = post_form(site, form(("", b"")), start=start, content_type=content_type)
    assert answered == status


def test_form__without_files_may_be_url_encoded(site):
    body = b"h=entry&photo[]=1&content=a+b&photo[]=2"
    head = request_head(site, start="POST /form", length=len(body), content_type="application/x-www-form-urlencoded")
    _, _, answer = site.exchange(head, body)
    assert json.loads(answer)["fields"] == [["h", "entry"], ["photo[]", "1"], ["photo[]", "2"], ["content", "a b"]]


def test_form__url_encoded_with_a_nul_is_refused(site):
    head = request_head(site, start="POST /form", length=5, content_type="application/x-www-form-urlencoded")
    assert site.exchange(head, b"a=%00")[0] == 400


@pytest.mark.parametrize("is_killed", [False, True])
def test_form__cut_off_by_the_client_leaves_nothing(site, wait_until, is_killed):
    before = len(named_files(site))
    body = form((PHOTO, jpeg_of(300_000)), (PHOTO, jpeg_of(900_000)))
    with site.connect() as connection:
        connection.sendall(request_head(site, start="POST /form", length=len(body)) + body[:-300_000])
        wait_until(lambda: len(site.staged()) == before + 2)
        if is_killed:
            # Closing it now resets the connection, as a network that breaks.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wait_until(lambda: len(site.staged()) == before)


def test_form__of_a_client_that_does_not_wait_for_the_answer_leaves_nothing(site, wait_until, jpeg):
    before = len(named_files(site))
    body = form((PHOTO, jpeg))
    with site.connect() as connection:
        connection.sendall(request_head(site, start="POST /form/endless", length=len(body)) + body)
        wait_until(lambda: len(site.staged()) == before + 1)
    wait_until(lambda: len(site.staged()) == before)


def test_form__that_a_stopping_server_cuts_leaves_nothing(start_site, wait_until):
    site = start_site()
    with site.connect() as connection:
        body = form((PHOTO, jpeg_of(500_000)), (PHOTO, jpeg_of(500_000)))
        connection.sendall(request_head(site, start="POST /form", length=len(body)) + body[:-100_000])
        wait_until(lambda: len(site.staged()) == 2)
        assert site.stop() == 0
        assert read_response(connection)[0] == 503
    assert site.staged() == []


def test_form__fails_as_a_whole_where_the_disk_is_full(full_site):
    status, answer = post(full_site, ('name="content"', b"Text"), (PHOTO, jpeg_of(900_000)))
    assert (status, answer["error"]) == (507, "no_space")
    assert full_site.staged() == []


def test_form__of_a_client_that_stalls_is_cut_off(start_site, wait_until):
    site = start_site(media_api={"BODY_GRACE_SECONDS": 1, "BODY_TOTAL_SECONDS": 4})
    with site.connect() as connection:
        body = form((PHOTO, jpeg_of(500_000)), (PHOTO, jpeg_of(500_000)))
        connection.sendall(request_head(site, start="POST /form", length=len(body)) + body[:600_000])
        assert read_response(connection)[0] == 408
    wait_until(lambda: site.staged() == [])


def test_form__of_100_mb_takes_little_memory(start_site):
    site = start_site(media={"UPLOAD_MAX_BYTES": 30_000_000})
    assert post(site, *[(PHOTO, jpeg_of(1_000_000))] * 4)[0] == 200
    before = peak_kib(site)
    photo = (PHOTO, jpeg_of(25_000_000, fill=b"\0"))
    status, answer = post(site, photo, photo, photo, photo)
    assert (status, len(values(answer, "photo"))) == (200, 4)
    assert peak_kib(site) - before < 15 * 1024
