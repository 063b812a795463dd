"""A server of the tests that can misbehave: each answer is bytes, or a function that writes to the connection."""

import contextlib
import socket
import threading
from email import message_from_bytes


def answer(status=200, *headers, body=b""):
    """The bytes of a proper answer."""
    lines = [f"HTTP/1.1 {status} Said", *headers, f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


class Server:
    """Listens on a port of 127.0.0.1; `answers` is by path, `requests` has (method, path, headers, body)."""

    def __init__(self, *, host="127.0.0.1", port=0, tls=None):
        self.answers = {"/": answer(200, "Content-Type: text/plain", body=b"hello")}
        self.requests = []
        self.names = []
        self.stop = threading.Event()
        self.dripped = threading.Event()
        self._listener = socket.create_server((host, port))
        self._tls = tls
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, path="/", *, host="127.0.0.1", scheme="http"):
        return f"{scheme}://{host}:{self.port}{path}"

    def close(self):
        self.stop.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def drip(self, connection, data):
        """Send a byte at a time, slowly, until the client has gone; `dripped` if it stayed for all of it."""
        for byte in data[:-1]:
            connection.sendall(bytes([byte]))
            if self.stop.wait(0.02):
                return
        self.dripped.set()
        connection.sendall(data[-1:])

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with contextlib.suppress(OSError, ValueError), connection:
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as reader:
                self._answer(connection, reader)

    def _answer(self, connection, reader):
        method, path, _ = reader.readline().decode("latin-1").split()
        headers = message_from_bytes(b"".join(iter(reader.readline, b"\r\n")))
        body = reader.read(int(headers.get("Content-Length", 0)))
        self.requests.append((method, path, headers, body))
        said = self.answers.get(path, answer(404))
        if isinstance(said, bytes):
            connection.sendall(said)
        else:
            said(connection)
