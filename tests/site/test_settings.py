import subprocess
import sys

import pytest
from django.conf import settings
from django.core import checks
from django.utils.module_loading import import_string


@pytest.mark.django_db
def test_home__of_a_new_site_has_no_script(client):
    response = client.get("/")
    assert response.status_code == 200
    assert "<script" not in response.text


@pytest.mark.django_db
def test_response__has_the_security_headers(client):
    headers = client.get("/").headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]


@pytest.mark.django_db
def test_unknown_address__is_a_plain_404(client):
    response = client.get("/nowhere")
    assert response.status_code == 404
    assert "<h1>" in response.text


def test_middleware__runs_without_a_thread_per_request():
    assert all(import_string(path).async_capable for path in settings.MIDDLEWARE)


@pytest.mark.django_db
def test_checks__find_nothing_but_the_library():
    found = checks.run_checks(databases=["default"])
    assert {message.id for message in found} <= {"vernier_sqlite.W001"}


def load(tmp_path, expression, **environ):
    code = f"from vernier.site import settings; print({expression})"
    given = {f"VERNIER_{name}": value for name, value in environ.items()}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"VERNIER_DATA_DIR": str(tmp_path), **given},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_settings__https_makes_cookies_secure(tmp_path):
    shown = "settings.SESSION_COOKIE_SECURE, settings.CSRF_COOKIE_SECURE, settings.ALLOWED_HOSTS[0]"
    assert load(tmp_path, shown, BASE_URL="https://example.org") == "True True example.org"
    assert load(tmp_path, shown) == "False False 127.0.0.1"


def test_settings__compatible_sites_make_the_fallback_in_the_uploaded_type(tmp_path):
    shown = "[v.format for v in settings.VERNIER_MEDIA['VARIANTS'] if v.name == 'fallback']"
    assert load(tmp_path, shown, MEDIA_COMPATIBLE="1") == "['family']"
    assert load(tmp_path, "'VARIANTS' in settings.VERNIER_MEDIA") == "False"


def test_settings__job_lock_is_not_longer_than_the_lease(tmp_path):
    shown = "settings.TASKS['default']['OPTIONS']['LOCK_TIMEOUT']"
    assert load(tmp_path, shown, LEASE_SECONDS="7") == "7"
    assert load(tmp_path, shown) == "30"
