"""Purge: the cache in front is told before files go, and files wait until it has heard."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from tests.media_api.factory import CONTENTS, add_version, make_media, supersede
from vernier.media.clean_up import clean_up_media, clean_up_version
from vernier.media.delete import delete_media
from vernier.media.models import Blob, Rendition, Version
from vernier.media.transitions import CLEANUP_RETRY
from vernier.media_api import purge as purge_module
from vernier.media_api.purge import PurgeFailed, purge
from vernier.site.environment import read_environment
from vernier.site.exceptions import SettingError

BASE = "https://example.org"

pytestmark = pytest.mark.django_db


class Cache(ThreadingHTTPServer):
    """Remembers what it was told, and answers with `status`."""

    status = 200
    headers = ()

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests = []
        self.url = f"http://127.0.0.1:{self.server_port}"

    @property
    def forgotten(self):
        return [unquote(path.removeprefix("/forget?it=")) for _, path in self.requests]


class Handler(BaseHTTPRequestHandler):
    def do_PURGE(self):
        self.server.requests.append((self.command, self.path))
        self.send_response(self.server.status)
        for name, value in self.server.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        self.do_PURGE()

    def do_GET(self):
        self.do_PURGE()

    def log_message(self, *args):
        pass


@pytest.fixture
def cache(settings):
    server = Cache()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    configure(settings, server)
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def configure(settings, server, **more):
    settings.VERNIER_MEDIA = {**settings.VERNIER_MEDIA, "PURGE": "vernier.media_api.purge.purge"}
    settings.VERNIER_MEDIA_API = {"BASE_URL": BASE, "PURGE_URL": f"{server.url}/forget?it={{url}}", **more}


@pytest.fixture
def media(author):
    media = make_media(author, contents={**CONTENTS, "w480": ("avif", b"STEP")}, width=900, height=600)
    add_version(media, has_alpha=True, image_type="png", extension="png")
    supersede(media, 1)
    return media


def expected(media, *rest):
    return [f"{BASE}/media/{media.pk}{path}" for path in ("", *rest)]


FIRST = ("/v1/photo.avif", "/v1/w480.avif", "/v1/fallback.jpg")
SECOND = ("/v2/photo.avif", "/v2/fallback.png")


def test_purge__names_every_address_once(cache, media):
    purge(media, list(media.versions.order_by("number")))
    assert cache.forgotten == expected(media, *FIRST, *SECOND)
    assert {method for method, _ in cache.requests} == {"PURGE"}
    assert cache.requests[0][1] == f"/forget?it={quote(expected(media)[0], safe='')}"


def test_purge__of_a_version_comes_before_its_files_go(cache, media):
    clean_up_version(media.pk, 1)
    assert cache.forgotten == expected(media, *FIRST)
    assert not Blob.objects.filter(key__contains=f"{media.pk}/v1/").exists()


def test_purge__of_a_deleted_media_knows_the_names_without_rows(cache, media):
    """A cache does not show what was deleted."""
    delete_media(media.pk, owner=media.owner)
    assert not Rendition.objects.filter(version__media=media).exists()
    clean_up_media(media.pk)
    assert sorted(cache.forgotten) == sorted(expected(media, *FIRST, *SECOND))
    assert not Blob.objects.filter(key__contains=str(media.pk)).exists()


@pytest.mark.parametrize("status", [301, 400, 403, 500, 503])
def test_purge__that_is_refused_keeps_the_files_and_is_tried_again(cache, media, status):
    cache.status = status
    cache.headers = [("Location", "/elsewhere")]
    now = timezone.now()
    with pytest.raises(PurgeFailed, match=str(status)):
        clean_up_version(media.pk, 1, now=now)
    assert len(cache.requests) == 1
    assert Rendition.objects.filter(version__media=media, version__number=1).count() == 3
    cache.status = 200
    clean_up_version(media.pk, 1, now=now)
    assert len(cache.requests) == 1
    clean_up_version(media.pk, 1, now=now + CLEANUP_RETRY)
    assert Version.objects.get(media=media, number=1).cleaned_at is not None


@pytest.mark.parametrize("status", [200, 204, 299, 404])
def test_purge__is_done_where_the_cache_forgot_or_had_nothing(cache, media, status):
    cache.status = status
    purge(media, [])
    assert cache.forgotten == expected(media)


def test_purge__takes_the_method_that_is_set(cache, media, settings):
    configure(settings, cache, PURGE_METHOD="POST")
    purge(media, [])
    assert cache.requests[0][0] == "POST"


def test_purge__of_a_cache_that_is_not_there_fails(cache, media, settings):
    settings.VERNIER_MEDIA_API = {"BASE_URL": BASE, "PURGE_URL": "http://127.0.0.1:9/{url}"}
    with pytest.raises(PurgeFailed, match="could not be told"):
        purge(media, [])


def test_purge__of_a_cache_that_is_silent_ends_in_time(media, settings, monkeypatch):
    import socket

    monkeypatch.setattr(purge_module, "TIMEOUT_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        settings.VERNIER_MEDIA_API = {"BASE_URL": BASE, "PURGE_URL": f"http://127.0.0.1:{port}/{{url}}"}
        with pytest.raises(PurgeFailed):
            purge(media, [])


@pytest.mark.parametrize("purge_url", ["file:///etc/passwd?{url}", "ftp://127.0.0.1/{url}", None])
def test_purge__goes_over_http_alone(media, settings, purge_url):
    settings.VERNIER_MEDIA_API = {"BASE_URL": BASE, "PURGE_URL": purge_url}
    with pytest.raises(ImproperlyConfigured):
        purge(media, [])


def read(tmp_path, **given):
    return read_environment(
        {"VERNIER_DATA_DIR": str(tmp_path)} | {f"VERNIER_{name}": value for name, value in given.items()}
    )


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("PURGE_URL", "http://127.0.0.1:6081/forget?it={url}"),
        ("PURGE_URL", "https://cdn.example/{url}"),
        ("PURGE_METHOD", "POST"),
        ("PURGE", "mysite.cache.purge"),
    ],
)
def test_setting__valid(tmp_path, name, given):
    assert read(tmp_path, **{name: given})[name] == given


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("PURGE_URL", "http://127.0.0.1:6081/forget"),
        ("PURGE_URL", "http://{url}/"),
        ("PURGE_URL", "file:///{url}"),
        ("PURGE_URL", "http://user:word@example.org/{url}"),
        ("PURGE_URL", "http://example.org:99999/{url}"),
        ("PURGE_URL", "http://example.org/a b{url}"),
        ("PURGE_URL", "http:///{url}"),
        ("PURGE_METHOD", "GET"),
        ("PURGE", "purge"),
        ("PURGE", "my site.purge"),
        ("CLEANUP_GRACE_SECONDS", "-1"),
    ],
)
def test_setting__that_is_not_valid_is_one_sentence(tmp_path, name, given):
    with pytest.raises(SettingError, match=f"^VERNIER_{name} is .*; valid is .*[.]$"):
        read(tmp_path, **{name: given})
