"""Servers and name servers that are slow, endless or broken."""

import gzip
import socket
import threading
import zlib

import pytest

from tests.net.server import answer
from vernier.net.fetch import FetchFailed, Limits, fetch, stream

BRIEF = Limits(seconds=0.3)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def assert_out_of_time(url, **options):
    with pytest.raises(FetchFailed, match="longer than 0.3 seconds"):
        fetch(url, limits=BRIEF, **options)


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\nX-Slow: " + b"a" * 200 + b"\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 10 + answer(),
        answer(body=b"a" * 200),
        CHUNKED + b"1\r\na\r\n" * 40 + b"0\r\n\r\n",
    ],
    ids=["headers", "continue", "body", "chunks"],
)
def test_seconds__byte_by_byte(server, said):
    server.answers["/"] = lambda connection: server.drip(connection, said)
    assert_out_of_time(server.url())
    assert not server.dripped.is_set()


def test_seconds__body_byte_by_byte_over_tls(tls_server, here, certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", certificate.file)
    tls_server.answers["/"] = lambda connection: tls_server.drip(connection, answer(body=b"a" * 200))
    assert_out_of_time(tls_server.url(host="tls.test", scheme="https"), resolver=here)
    assert not tls_server.dripped.is_set()


def test_seconds__silence(server):
    server.answers["/"] = lambda connection: server.stop.wait()
    assert_out_of_time(server.url())


def test_seconds__no_handshake(settings):
    # The system accepts connections for it, and nobody says anything.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        settings.VERNIER_NET = {"PORTS": (port,), "PRIVATE_HOSTS": ("127.0.0.1",)}
        assert_out_of_time(f"https://127.0.0.1:{port}/")


def test_seconds__redirects_share_them(server):
    server.answers["/"] = lambda connection: server.drip(connection, answer(302, "Location: /"))
    with pytest.raises(FetchFailed, match="longer than"):
        fetch(server.url(), limits=Limits(seconds=0.3, redirects_max=100))


def test_seconds__name_server_that_does_not_answer(server):
    over, gave_up = threading.Event(), threading.Event()

    def resolver(host):
        if not over.wait(10):
            gave_up.set()
        return ["127.0.0.1"]

    assert_out_of_time(server.url(host="one.test"), resolver=resolver)
    assert not gave_up.is_set()
    over.set()


def test_lookups__are_bounded_and_free_again(server, here, monkeypatch):
    monkeypatch.setattr("vernier.net.resolve._free", threading.BoundedSemaphore(1))
    asked = threading.Event()
    stuck = lambda host: asked.wait() and ["127.0.0.1"]  # noqa: E731
    assert_out_of_time(server.url(host="one.test"), resolver=stuck)
    with pytest.raises(FetchFailed, match="other names are being looked up"):
        fetch(server.url(host="one.test"), limits=BRIEF, resolver=here)
    asked.set()
    assert fetch(server.url(host="one.test"), resolver=here).status == 200


@pytest.mark.parametrize("error", [OSError("no such name"), None])
def test_fetch__name_without_an_address(error):
    def resolver(host):
        if error:
            raise error
        return []

    with pytest.raises(FetchFailed, match="no such name|has no address"):
        fetch("http://nowhere.example/", resolver=resolver)


def test_bytes__of_exactly_the_limit(server):
    server.answers["/"] = answer(body=b"a" * 1000)
    assert len(fetch(server.url(), limits=Limits(bytes_max=1000)).body) == 1000


def test_bytes__one_too_many(server):
    server.answers["/"] = answer(body=b"a" * 1001)
    with pytest.raises(FetchFailed, match="larger than 1000 bytes"):
        fetch(server.url(), limits=Limits(bytes_max=1000))


@pytest.mark.parametrize("chunked", [False, True], ids=["whole", "chunked"])
@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_bytes__bomb(server, coding, chunked):
    packed = {"gzip": gzip.compress, "deflate": zlib.compress}[coding](bytes(50_000_000))
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n".encode()
    if chunked:
        head += b"Transfer-Encoding: chunked\r\n"
        packed = b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)
    server.answers["/"] = head + b"\r\n" + packed
    got = 0
    with pytest.raises(FetchFailed, match="larger than 1048576 bytes"), stream(server.url()) as answered:
        for chunk in answered.chunks:
            got += len(chunk)
            assert len(chunk) <= 65536
    assert 0 < got <= 1048576


def endless(head, piece):
    """An answer that would never end, of which no bounded part is enough."""

    def said(connection):
        connection.sendall(head)
        while True:
            connection.sendall(piece * 1000)

    return said


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"X-Flood: aaaaaaaaaaaa\r\n"),
        (b"HTTP/1.1 200 OK\r\nX-Flood: ", b"aaaaaaaaaaaaaaaaaaaaa"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", gzip.compress(b"")),
        (CHUNKED + b"1;", b"aaaaaaaaaaaaaaaaaaaaa"),
        (CHUNKED + b"-5\r\n", b"aaaaaaaaaaaaaaaaaaaaa"),
        (CHUNKED + b"0\r\n", b"X-Trailer: aaaaaa\r\n"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"aaaaaaaaaaaaaaaaaaaaa"),
    ],
    ids=["headers", "header", "continue", "empty-gzip", "chunk-size", "negative-chunk", "trailers", "body"],
)
def test_bytes__endless(server, head, piece):
    server.answers["/"] = endless(head, piece)
    with pytest.raises(FetchFailed) as raised:
        fetch(server.url(), limits=Limits(seconds=60, bytes_max=100_000))
    assert "longer than" not in str(raised.value)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 two hundred\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        CHUNKED + b"x\r\n",
        answer(200, "Content-Length: 3"),
        answer(200, "Content-Encoding: gzip", body=b"not gzip"),
        answer(200, "Content-Encoding: br", body=b"x"),
        answer(200, "Content-Encoding: gzip, gzip", body=gzip.compress(gzip.compress(b"x"))),
    ],
)
def test_fetch__answer_that_is_broken(server, said):
    server.answers["/"] = said
    with pytest.raises(FetchFailed):
        fetch(server.url())
