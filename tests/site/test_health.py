import os
import time

import pytest
from django.conf import settings
from django.db import connection

from vernier.engines.heartbeat import heartbeat_file


@pytest.fixture
def heartbeat():
    file = heartbeat_file(settings.DATA_DIR / "run")
    file.touch()
    yield file
    file.unlink()


@pytest.mark.django_db
def test_healthz__all_is_well(client, heartbeat):
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "database": "ok", "worker": "ok"}
    assert "no-store" in response["Cache-Control"]


@pytest.mark.django_db
def test_healthz__silent_worker(client, heartbeat):
    os.utime(heartbeat, (time.time() - 61, time.time() - 61))
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.json() == {"status": "failing", "database": "ok", "worker": "silent"}


@pytest.mark.django_db
def test_healthz__no_worker_ever(client):
    assert client.get("/healthz").json()["worker"] == "silent"


@pytest.mark.django_db(transaction=True)
def test_healthz__database_that_does_not_answer(client, heartbeat, monkeypatch):
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "NAME", "/nowhere/vernier.db")
    response = client.get("/healthz")
    connection.close()
    assert response.status_code == 503
    assert response.json() == {"status": "failing", "database": "failing", "worker": "ok"}


def test_healthz__is_for_reading(client):
    assert client.post("/healthz").status_code == 405
