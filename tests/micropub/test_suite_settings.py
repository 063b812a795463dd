"""The official server suite against `vernier serve`, with the default settings and with those that it needs.

With the latter the checks 700 to 702 hold, and AM-2: an upload is served at once, in its own type.
"""

import httpx
import pytest

from tests.micropub.suite import CHECKS, Endpoint, assert_media, failing, image
from tests.processes.server import Server, running

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("processes")]
COMPATIBLE = {
    "micropub_strict": "on",
    "media_wait_seconds": 30,
    "media_compatible": "on",
    "upload_types": "jpeg,png,webp,gif",
}


def endpoint(server):
    token = server.token("create update delete undelete")
    media_token = server.command("token", "create", "--author", "alice", "--scope", "media")
    return Endpoint(url=f"{server.url}/micropub", token=token, media_token=media_token)


@pytest.fixture(scope="module")
def compatible(tmp_path_factory):
    with running(Server(tmp_path_factory.mktemp("site") / "data", **COMPATIBLE)) as server:
        yield endpoint(server)


def test_suite__holds_with_the_settings_that_it_needs(compatible):
    assert len(CHECKS) == 36
    assert failing(compatible) == {}


def test_suite__holds_by_default_but_for_media_types_and_a_token_sent_twice(tmp_path):
    with running(Server(tmp_path / "data")) as server:
        assert set(failing(endpoint(server))) == {"700", "701", "702", "805"}


def test_700__jpeg_is_served_at_once_as_jpeg(compatible):
    assert_media(compatible, "JPEG", "image/jpeg")


def test_701__png_is_served_at_once_as_png(compatible):
    assert_media(compatible, "PNG", "image/png")


def test_702__gif_is_served_at_once_as_gif(compatible):
    assert_media(compatible, "GIF", "image/gif")


@pytest.mark.parametrize(("image_format", "media_type"), [("JPEG", "image/jpeg"), ("PNG", "image/png")])
def test_am_2__photo_of_a_post_is_served_at_once_in_its_own_type(compatible, image_format, media_type):
    files = {"photo": ("photo", image(image_format, 31))}
    url = compatible.create(data={"content": f"A {image_format}"}, files=files)
    served = httpx.get(compatible.source(url)["photo"][0], timeout=60)
    assert (served.status_code, served.headers["Content-Type"]) == (200, media_type)
