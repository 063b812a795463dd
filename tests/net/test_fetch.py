"""Against real servers: what is asked of them, and what of their answers is given back."""

import gzip

import pytest

from tests.net.server import answer
from vernier.net.fetch import FetchFailed, FetchRefused, Limits, fetch, stream


def test_fetch__gives_the_answer_back(server):
    server.answers["/"] = answer(201, "Content-Type: Text/HTML; charset=utf-8", "link: <a>", "Link: <b>", body=b"hi")
    got = fetch(server.url())
    assert (got.url, got.status, got.content_type, got.body) == (server.url(), 201, "text/html", b"hi")
    assert got.headers.getlist("LINK") == ["<a>", "<b>"]


def test_fetch__sends_what_it_was_given(server, settings):
    settings.VERNIER_NET |= {"USER_AGENT_URL": "https://vernier.example"}
    fetch(server.url("/a?b=c"), method="POST", headers={"Accept": "text/html"}, body=b"x=y")
    ((method, path, headers, body),) = server.requests
    assert (method, path, body, headers["accept"]) == ("POST", "/a?b=c", b"x=y", "text/html")
    assert headers["User-Agent"] == "Vernier (+https://vernier.example)"
    assert headers["Host"] == f"127.0.0.1:{server.port}"


def test_fetch__without_a_url_to_name_and_without_cookies(server):
    server.answers["/"] = answer(302, "Location: /next", "Set-Cookie: a=b; Path=/")
    fetch(server.url())
    _, (_, _, headers, _) = server.requests
    assert headers["User-Agent"] == "Vernier"
    assert "Cookie" not in headers


def test_fetch__status_of_an_error_is_an_answer(server):
    assert fetch(server.url("/nothing")).status == 404


def test_fetch__head_has_no_body(server):
    server.answers["/"] = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"
    assert fetch(server.url(), method="HEAD").body == b""


def test_fetch__asks_no_proxy(server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert fetch(server.url()).body == b"hello"


def test_fetch__body_in_chunks_and_compressed(server):
    packed = gzip.compress(b"text " * 1000)
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"
    server.answers["/"] = head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)
    assert fetch(server.url()).body == b"text " * 1000


def test_stream__gives_chunks_after_the_headers(server):
    server.answers["/"] = answer(200, "Content-Type: image/jpeg", body=b"x" * 200_000)
    with stream(server.url(), limits=Limits(bytes_max=200_000)) as got:
        assert got.content_type == "image/jpeg"
        sizes = [len(chunk) for chunk in got.chunks]
    assert sum(sizes) == 200_000
    assert len(sizes) > 1


def test_stream__lets_the_callers_own_error_through(server):
    with pytest.raises(OSError, match="disk full"), stream(server.url()):
        raise OSError("disk full")


def test_redirect__is_followed_to_the_end(server):
    server.answers["/a"] = answer(301, "Location: b?c=1")
    server.answers["/b?c=1"] = answer(307, f"Location: {server.url('/é')}".encode().decode("latin-1"))
    server.answers["/%C3%A9"] = answer(200, body=b"here")
    got = fetch(server.url("/a"))
    assert (got.url, got.body) == (server.url("/é"), b"here")


@pytest.mark.parametrize(("status", "method", "body"), [(302, "GET", b""), (303, "GET", b""), (307, "POST", b"x=y")])
def test_redirect__method_and_body(server, status, method, body):
    server.answers["/"] = answer(status, "Location: /next")
    fetch(server.url(), method="POST", headers={"Content-Type": "text/plain"}, body=b"x=y")
    assert (server.requests[1][0], server.requests[1][3]) == (method, body)
    assert ("Content-Type" in server.requests[1][2]) == (method == "POST")


def test_redirect__to_another_origin_drops_secrets(server, here):
    secret = {"Authorization": "Bearer s", "Cookie": "a=b", "Accept": "text/html"}
    server.answers["/"] = answer(302, "Location: /same")
    server.answers["/same"] = answer(302, f"Location: {server.url('/other', host='two.test')}")
    fetch(server.url(host="one.test"), headers=secret, resolver=here)
    same, other = server.requests[1][2], server.requests[2][2]
    assert same["Authorization"] == "Bearer s"
    assert (other["Authorization"], other["Cookie"], other["Accept"]) == (None, None, "text/html")


def test_redirect__too_many(server):
    server.answers["/"] = answer(302, "Location: /")
    with pytest.raises(FetchFailed, match="redirects more than 2 times"):
        fetch(server.url(), limits=Limits(redirects_max=2))
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http://localhost/", "means this machine"),
        ("http://169.254.169.254/latest/", "not public"),
        ("http://[::ffff:127.0.0.1]/", "not public"),
        ("http://127.0.0.1:1/", "Port 1"),
        ("file:///etc/passwd", "scheme 'file'"),
        ("http://[", "not a URL"),
        ("//a@127.0.0.1/", "user name"),
    ],
)
def test_redirect__to_what_is_not_fetched(server, location, reason):
    server.answers["/"] = answer(302, f"Location: {location}")
    with pytest.raises(FetchRefused, match=reason):
        fetch(server.url())
