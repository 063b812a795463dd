"""A mail server for tests, as small as one can be: it speaks RFC 5321 and behaves as it is told."""

import socketserver
import threading
from contextlib import contextmanager
from email import message_from_bytes, policy


class SmtpServer(socketserver.ThreadingTCPServer):
    """Takes mail into `mails`; `answers` replaces what it says to a verb, by a line, "hang" or "close"."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.answers = {}
        self.mails = []
        self.connections = 0
        self.ends = threading.Event()

    @property
    def mailers(self):
        """Django's setting for it."""
        host, port = self.server_address
        return {
            "default": {
                "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
                "OPTIONS": {"host": host, "port": port, "timeout": 0.2},
            }
        }


@contextmanager
def smtp_server():
    """Run a server for as long as the block lasts."""
    with SmtpServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.ends.set()
            server.shutdown()
            thread.join()


class _Conversation(socketserver.StreamRequestHandler):
    def handle(self):
        self.server.connections += 1
        if not self.say("CONNECT", "220 ready"):
            return
        while line := self.rfile.readline():
            verb = line.split()[0].decode().upper()
            usual = {"QUIT": "221 bye", "DATA": "354 go on"}.get(verb, "250 ok")
            if not self.say(verb, usual) or verb == "QUIT":
                return
            if verb == "DATA" and verb not in self.server.answers and not self.take():
                return

    def take(self):
        """Read a mail up to the lone dot."""
        lines = []
        while (line := self.rfile.readline()) not in {b".\r\n", b""}:
            lines.append(line.removeprefix(b"."))
        if not self.say("CONTENT", "250 taken"):
            return False
        if "CONTENT" not in self.server.answers:
            self.server.mails.append(message_from_bytes(b"".join(lines), policy=policy.default))
        return True

    def say(self, verb, usual):
        """Answer; return whether the conversation goes on."""
        answer = self.server.answers.get(verb, usual)
        if answer == "hang":
            self.server.ends.wait()
        if answer in {"hang", "close"}:
            return False
        self.wfile.write(f"{answer}\r\n".encode())
        return True
