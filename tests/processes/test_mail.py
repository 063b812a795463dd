"""Mail and images in one worker: a mail server that hangs holds no image up, and delays no stop."""

import httpx
import pytest

from tests.mail.smtp_server import smtp_server
from tests.media.factory import image_bytes
from tests.processes.server import Server, running, wait_until

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("processes")]

READY_SECONDS_MAX = 30


@pytest.fixture
def hanging_mail():
    with smtp_server() as server:
        server.answers["CONNECT"] = "hang"
        yield server


def upload(server, token, content):
    answer = httpx.post(
        f"{server.url}/media", files={"file": content}, headers={"Authorization": f"Bearer {token}"}, timeout=30
    )
    assert answer.status_code == 201
    return answer.headers["Location"]


def test_mail_server_that_hangs__holds_no_image_up(tmp_path, hanging_mail):
    host, port = hanging_mail.server_address
    server = Server(tmp_path / "data", email_url=f"smtp://{host}:{port}")
    server.command("author", "create", "alice", "--email", "alice@example.org")
    token = server.command("token", "create", "--author", "alice", "--scope", "create")
    with running(server):
        # Its failure is mailed.
        upload(server, token, image_bytes()[:-200])
        wait_until(lambda: hanging_mail.connections, READY_SECONDS_MAX, "nobody talks to the mail server")
        url = upload(server, token, image_bytes())
        wait_until(lambda: httpx.get(url).status_code == 200, READY_SECONDS_MAX, "the image is not ready")
        ((leases, sent),) = server.rows("SELECT count(lease_token), count(sent_at) FROM mail_mail")
        assert (leases, sent) == (1, 0)
        assert server.stop() == 0
