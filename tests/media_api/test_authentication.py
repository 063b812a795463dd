"""Who may upload, decided before a byte of the body is read."""

import time

import pytest

from tests.media_api.site import form, read_response, request_head

HUGE = 300_000_000


def test_authentication__refuses_before_the_body_is_read(site):
    """What a refused client can hand over is what sockets and the lingering close take, not what it declares."""
    sent = 0
    with site.connect() as connection:
        connection.sendall(request_head(site, length=HUGE, token="unknown"))
        connection.settimeout(5)
        try:
            while sent < HUGE:
                sent += connection.send(b"x" * 65536)
        except OSError:
            pass
    assert sent < 16_000_000


def test_authentication__answers_while_the_body_has_not_been_sent(site):
    with site.connect() as connection:
        connection.sendall(request_head(site, length=1000, token="unknown"))
        status, headers, body = read_response(connection)
    assert status == 401
    assert headers["connection"] == "close"
    assert b"invalid_token" in body


def test_authentication__lets_a_refused_client_send_on_for_a_moment(site):
    """A reset while it sends could destroy the answer before the client reads it."""
    with site.connect() as connection:
        connection.sendall(request_head(site, length=HUGE, token="unknown"))
        for _ in range(4):
            time.sleep(0.1)
            connection.sendall(b"x" * 50_000)
        assert read_response(connection)[0] == 401


def test_expect__is_answered_401_and_never_100(site):
    with site.connect() as connection:
        connection.sendall(request_head(site, length=1000, token="unknown", more=["Expect: 100-continue"]))
        assert read_response(connection)[0] == 401


def test_expect__is_answered_100_once_the_headers_are_good(site, jpeg):
    body = form(('name="file"', jpeg))
    with site.connect() as connection:
        connection.sendall(request_head(site, length=len(body), more=["Expect: 100-continue"]))
        assert connection.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert read_response(connection)[0] == 201


def test_authentication__without_credentials_has_no_error_code(site):
    status, headers, body = site.exchange(request_head(site, length=0, token=""))
    assert status == 401
    assert headers["www-authenticate"] == 'Bearer realm="vernier"'
    assert b'"error"' not in body
    assert b"error_description" in body


@pytest.mark.parametrize(
    ("authorization", "code"),
    [
        (b"Basic YTpi", b"error_description"),
        (b"Bearer", b"invalid_token"),
        (b"Bearer ", b"invalid_token"),
        (b"Bearer a b", b"invalid_token"),
        (b"bearer unknown", b"invalid_token"),
        (b"Bearer \xff\xfe\x80", b"invalid_token"),
        (b"Bearer " + b"x" * 30_000, b"invalid_token"),
        (b"\xe9", b"error_description"),
    ],
)
def test_authentication__of_a_malformed_header_is_401(site, authorization, code):
    head = request_head(site, length=0, token="x").replace(b"Bearer x", authorization)
    status, headers, body = site.exchange(head)
    assert status == 401
    assert headers["www-authenticate"].startswith("Bearer ")
    assert code in body


def test_authentication__of_a_nul_is_a_bad_request(site):
    head = request_head(site, length=0, token="x").replace(b"Bearer x", b"Bearer \x00")
    status, headers, _ = site.exchange(head)
    assert (status, headers["content-type"]) == (400, "application/json")


@pytest.mark.parametrize("scope", ["update delete", "profile"])
def test_authentication__without_the_scope_names_it(site, scope):
    token = site.token_for("ann", scope)
    status, headers, body = site.exchange(request_head(site, length=HUGE, token=token))
    assert status == 401
    assert 'error="insufficient_scope"' in headers["www-authenticate"]
    assert 'scope="media"' in headers["www-authenticate"]
    assert b"insufficient_scope" in body


@pytest.mark.parametrize("scope", ["media", "create"])
def test_authentication__with_either_scope_uploads(site, jpeg, scope):
    token = site.token_for("ann", scope)
    assert site.upload(jpeg, headers={"Authorization": f"bearer {token}"}).status_code == 201


def test_authentication__is_not_needed_for_a_preflight(site):
    with site.connect() as connection:
        connection.sendall(b"OPTIONS /media HTTP/1.1\r\nHost: localhost\r\nOrigin: https://x.example\r\n\r\n")
        status, headers, _ = read_response(connection)
    assert status == 204
    assert "Authorization" in headers["access-control-allow-headers"]


def test_host__that_is_not_served_is_a_bad_request(site):
    head = request_head(site, length=0).replace(b"Host: 127.0.0.1", b"Host: evil.example")
    assert site.exchange(head)[0] == 400
