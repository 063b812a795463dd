"""Clients that send slowly, or nothing: they are cut off, and nobody else notices."""

import socket
import threading
import time

import pytest

from tests.media_api.site import form, read_response, request_head

DRIPS = 200


@pytest.fixture(scope="module")
def strict_site(start_site):
    return start_site(media_api={"BODY_GRACE_SECONDS": 2, "BODY_TOTAL_SECONDS": 4})


def drip(connections, stop):
    while not stop.wait(1):
        for connection in connections:
            try:
                connection.send(b"x")
            except OSError:
                continue


def test_slow_clients__delay_nobody_and_are_cut_off(strict_site, jpeg):
    head = request_head(strict_site, length=100_000) + form(('name="file"', jpeg))[:1500]
    connections = [strict_site.connect() for _ in range(DRIPS)]
    stop = threading.Event()
    dripping = threading.Thread(target=drip, args=(connections, stop))
    try:
        for connection in connections:
            connection.sendall(head)
        dripping.start()
        for _ in range(10):
            assert strict_site.upload(jpeg).status_code == 201
            assert strict_site.get("/media/unknown").status_code == 404
        deadline = time.monotonic() + 30
        for connection in connections:
            connection.settimeout(max(0.1, deadline - time.monotonic()))
            assert read_response(connection)[0] == 408
    finally:
        stop.set()
        dripping.join()
        for connection in connections:
            connection.close()
    assert len(strict_site.staged()) == 10


def test_slow_client__that_is_fast_enough_meets_the_total_limit(strict_site):
    with strict_site.connect() as connection:
        connection.sendall(request_head(strict_site, length=10_000_000))
        connection.sendall(form(('name="file"', b"\xff\xd8\xff" + b"x" * 100))[:-10])
        started = time.monotonic()
        connection.settimeout(0.2)
        while time.monotonic() - started < 8:
            connection.sendall(b"x" * 4096)
            try:
                answer = read_response(connection)
            except TimeoutError:
                continue
            assert answer[0] == 408
            return
    pytest.fail("The upload was not cut off.")


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_headers__that_do_not_end_in_time_close_the_connection(short_header_site, sent):
    with short_header_site.connect() as connection:
        connection.sendall(sent)
        connection.settimeout(4)
        assert connection.recv(100) == b""


def test_headers__without_end_are_refused(strict_site):
    with strict_site.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        try:
            for _ in range(200):
                connection.sendall(b"X-Y: " + b"z" * 1000 + b"\r\n")
                time.sleep(0.001)
        except OSError:
            pass
        assert read_response(connection)[0] in {431, None}


def test_server__stops_in_time_with_slow_clients_connected(start_site):
    site = start_site()
    idle, slow = site.connect(), site.connect()
    slow.sendall(request_head(site, length=100_000))
    time.sleep(0.2)
    started = time.monotonic()
    assert site.stop() == 0
    # What an operator is promised.
    assert time.monotonic() - started < 10
    with pytest.raises(OSError), socket.create_connection(site.address, timeout=1) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        if not connection.recv(10):
            raise ConnectionResetError
    idle.close()
    slow.close()
