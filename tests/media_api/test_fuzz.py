"""Whatever a client sends as a form: never a server error, and nothing is left in staging that no row names."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.media_api.site import form, request_head
from vernier.media.models import Version

FRAGMENTS = [
    b"--b",
    b"--b--",
    b"\r\n--b\r\n",
    b"\r\n--b--\r\n",
    b"\r\n",
    b"\r",
    b"\n",
    b"-",
    b"\r\n--",
    b'Content-Disposition: form-data; name="file"\r\n\r\n',
    b'Content-Disposition: form-data; name="x"; filename="y"\r\n',
    b'Content-Disposition: form-data; name="photo"; filename=""\r\n\r\n',
    b"Content-Disposition: form-data",
    b"name*=utf-8''%ff;;=\"",
    b": ",
    b"\x00\xff",
    b"\xff\xd8\xff\xe0",
    b"\x89PNG\r\n\x1a\n",
]
pieces = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.binary(max_size=80)), max_size=12).map(b"".join)
damaged_forms = st.tuples(
    st.binary(max_size=200), st.integers(0, 400), st.integers(0, 400), st.sampled_from(FRAGMENTS)
).map(lambda given: damage(*given))
damaged_mixed_forms = st.tuples(
    st.one_of(st.binary(max_size=200), st.text(max_size=80).map(str.encode)),
    st.integers(0, 700),
    st.integers(0, 700),
    st.sampled_from(FRAGMENTS),
).map(lambda given: damage_mixed(*given))


def damage(content, start, stop, fragment):
    return damage_form(form(('name="file"; filename="x.jpg"', b"\xff\xd8\xff" + content)), start, stop, fragment)


def damage_mixed(content, start, stop, fragment):
    photo = ('name="photo"; filename="x.jpg"', b"\xff\xd8\xff" + content)
    return damage_form(form(('name="a"', content), photo, ('name="photo"', b"x"), photo), start, stop, fragment)


def damage_form(whole, start, stop, fragment):
    return whole[:start] + fragment + whole[max(start, stop) :]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.one_of(pieces, damaged_forms))
def test_form__of_any_bytes_gets_an_answer_and_leaves_nothing(site, body):
    status, headers, answer = site.exchange(request_head(site, length=len(body)), body)
    assert status in {201, 400, 415}, answer
    assert headers["content-type"] == "application/json"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.one_of(pieces, damaged_mixed_forms))
def test_mixed_form__of_any_bytes_gets_an_answer(site, body):
    status, _, answer = site.exchange(request_head(site, start="POST /form", length=len(body)), body)
    assert status in {200, 400}, answer


def test_form__of_any_bytes_leaves_no_file_without_a_row(site, wait_until):
    with site.rows():
        named = Version.objects.exclude(staging_key="").values_list("staging_key", flat=True)
        wait_until(lambda: site.staged() == sorted(named))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from([b"Content-Type", b"Authorization", b"Idempotency-Key", b"Host", b"Accept", b"Range"]),
    value=st.binary(max_size=60).map(lambda value: value.replace(b"\r", b"").replace(b"\n", b"")),
    path=st.sampled_from([b"POST /media", b"GET /media/x?\xff", b"GET /media/x", b"GET /media/x/status?wait=%ff"]),
)
def test_headers__of_any_bytes_are_never_a_server_error(site, name, value, path):
    head = path + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n" + name + b": " + value + b"\r\n\r\n"
    status, _, answer = site.exchange(head)
    assert status in {400, 401, 404}, answer
