import socket

import pytest
from django.core.cache import cache
from django.test import Client

from tests.indieauth.app import App
from tests.net.server import Server

BASE = "https://ann.example"


@pytest.fixture(autouse=True)
def base(settings):
    """The address of the site, and counters that begin at nothing."""
    settings.VERNIER_MEDIA_API = {**settings.VERNIER_MEDIA_API, "BASE_URL": BASE}
    cache.clear()
    return BASE


@pytest.fixture(autouse=True)
def looked_up(monkeypatch):
    """The names that were looked up; those below .test are this machine, those below .example do not exist."""
    real, names = socket.getaddrinfo, []

    def getaddrinfo(host, *args, **more):
        names.append(host)
        if str(host).endswith(".example"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return real("127.0.0.1" if str(host).endswith(".test") else host, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return names


@pytest.fixture
def browser(author):
    browser = Client()
    browser.force_login(author)
    return browser


@pytest.fixture
def app(browser):
    return App(browser, Client())


@pytest.fixture
def app_server(settings):
    """The web server of an app at http://app.test:PORT."""
    server = Server()
    settings.VERNIER_NET = {"PORTS": (server.port,), "PRIVATE_HOSTS": ("app.test",)}
    yield server
    server.close()


@pytest.fixture
def published_app(browser, app_server):
    """An app whose page can be fetched; the test says what is on it."""
    client_id = app_server.url("/", host="app.test")
    return App(browser, Client(), client_id=client_id, redirect_uri=client_id + "callback")
