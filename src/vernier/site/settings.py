"""Django's settings of a Vernier site. What an operator may change comes from `environment`."""

from __future__ import annotations

import os
from dataclasses import replace
from urllib.parse import urlsplit

from django.utils.csp import CSP

from vernier.engines import NETWORK_QUEUE
from vernier.media.variants import DEFAULT_VARIANTS, FALLBACK
from vernier.site import data_directory
from vernier.site.environment import read_environment
from vernier.site.logs import logging_settings
from vernier.site.mailers import mailers
from vernier.sqlite.options import sqlite_options

# How long a job may stay unrenewed before another worker runs it. Not longer than the lease of the work itself,
# which would then wait for it.
_JOB_LOCK_SECONDS_MAX = 30
# How often an idle worker looks for a job: what an upload waits for its worker at most.
JOB_POLL_SECONDS = 0.1
# What purges by PURGE_URL where the operator has no function of their own.
PURGE = "vernier.media_api.purge.purge"

ENVIRONMENT = read_environment(os.environ)
DATA_DIR = ENVIRONMENT["DATA_DIR"]
_base_url = urlsplit(ENVIRONMENT["BASE_URL"])
_is_https = _base_url.scheme == "https"

DEBUG = False
SECRET_KEY = ENVIRONMENT["SECRET_KEY"] or data_directory.secret_key(DATA_DIR)
ALLOWED_HOSTS = [_base_url.hostname, "localhost", "127.0.0.1", "[::1]"]

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "django.contrib.messages",
    # Without discovery: `urls` loads the admin's modules, and a worker or a command does not.
    "django.contrib.admin.apps.SimpleAdminConfig",
    "vernier.mail",
    "vernier.authors",
    "vernier.media",
    "vernier.media_api",
    "vernier.posts",
    "vernier.pages",
    "vernier.editor",
    "vernier.micropub",
    "vernier.indieauth",
    "vernier.sqlite",
    "django_ox",
]
AUTH_USER_MODEL = "authors.Author"
ROOT_URLCONF = "vernier.site.urls"
ASGI_APPLICATION = "vernier.site.asgi.application"
APPEND_SLASH = False
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "vernier.pages.context.site",
            ]
        },
    }
]
STATIC_URL = "/static/"

DATABASES = {
    "default": {
        "ENGINE": "vernier.sqlite.backend",
        "NAME": DATA_DIR / data_directory.DATABASE,
        "OPTIONS": sqlite_options(),
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
STORAGES = {
    "default": {"BACKEND": "vernier.media.storages.DatabaseStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "staging": {
        "BACKEND": "vernier.media.storages.DurableFileSystemStorage",
        "OPTIONS": {"location": DATA_DIR / data_directory.STAGING},
    },
    "renditions": {"BACKEND": "vernier.media.storages.DatabaseStorage"},
    "originals": {"BACKEND": "vernier.media.storages.DatabaseStorage"},
}
TASKS = {
    "default": {
        "BACKEND": "django_ox.backend.OxBackend",
        "QUEUES": ["default", NETWORK_QUEUE],
        "OPTIONS": {
            "LOCK_TIMEOUT": min(_JOB_LOCK_SECONDS_MAX, ENVIRONMENT["LEASE_SECONDS"]),
            "WORKER_CLASS": "vernier.engines.ox.Worker",
        },
    }
}

VERNIER_MEDIA = {
    "UPLOAD_MAX_BYTES": ENVIRONMENT["UPLOAD_MAX_BYTES"],
    "UPLOAD_TYPES": ENVIRONMENT["UPLOAD_TYPES"],
    "PIXELS_MAX": ENVIRONMENT["PIXELS_MAX"],
    "KEEP_ORIGINALS": ENVIRONMENT["KEEP_ORIGINALS"],
    "LEASE_SECONDS": ENVIRONMENT["LEASE_SECONDS"],
    "MAX_ATTEMPTS": ENVIRONMENT["MAX_ATTEMPTS"],
    "BACKOFF_SECONDS": ENVIRONMENT["BACKOFF_SECONDS"],
    "RECONCILE_SECONDS": ENVIRONMENT["RECONCILE_SECONDS"],
    "STAGING_GRACE_SECONDS": ENVIRONMENT["STAGING_GRACE_SECONDS"],
    "SWEEP_GRACE_SECONDS": ENVIRONMENT["SWEEP_GRACE_SECONDS"],
    "CLEANUP_GRACE_SECONDS": ENVIRONMENT["CLEANUP_GRACE_SECONDS"],
    "PURGE": ENVIRONMENT["PURGE"] or (PURGE if ENVIRONMENT["PURGE_URL"] else None),
    "RENDER_MEMORY_BYTES": ENVIRONMENT["RENDER_MEMORY_BYTES"],
    "RENDER_CPU_SECONDS": ENVIRONMENT["RENDER_CPU_SECONDS"],
    "RENDER_WALL_SECONDS": ENVIRONMENT["RENDER_WALL_SECONDS"],
    "LIVE_JOBS": "vernier.engines.ox.live_jobs",
}
if ENVIRONMENT["MEDIA_COMPATIBLE"]:
    VERNIER_MEDIA["VARIANTS"] = tuple(
        replace(variant, format="family") if variant.name == FALLBACK else variant for variant in DEFAULT_VARIANTS
    )
VERNIER_MEDIA_API = {
    "BASE_URL": ENVIRONMENT["BASE_URL"],
    "WAIT_SECONDS": ENVIRONMENT["MEDIA_WAIT_SECONDS"],
    "COMPATIBLE": ENVIRONMENT["MEDIA_COMPATIBLE"],
    "STRICT": ENVIRONMENT["MICROPUB_STRICT"],
    "PURGE_URL": ENVIRONMENT["PURGE_URL"],
    "PURGE_METHOD": ENVIRONMENT["PURGE_METHOD"],
}
VERNIER_PAGES = {
    "TITLE": ENVIRONMENT["SITE_TITLE"] or _base_url.hostname,
    "LANGUAGE": ENVIRONMENT["LANGUAGE"],
    "DISCOVERY": ("vernier.indieauth.discovery.discovery_links", "vernier.micropub.discovery.discovery_links"),
}
VERNIER_MICROPUB = {
    "PHOTO_HOSTS": ENVIRONMENT["PHOTO_HOSTS"],
    "QUEUE": NETWORK_QUEUE,
}
VERNIER_NET = {
    "PORTS": tuple(int(port) for port in ENVIRONMENT["FETCH_PORTS"]),
    "PRIVATE_HOSTS": ENVIRONMENT["FETCH_PRIVATE_HOSTS"],
    "USER_AGENT_URL": ENVIRONMENT["BASE_URL"],
}
VERNIER_METRICS_PUBLIC = ENVIRONMENT["METRICS_PUBLIC"]

MAILERS = mailers(ENVIRONMENT["EMAIL_URL"])
VERNIER_MAIL = {
    "ENABLED": ENVIRONMENT["EMAIL_URL"] is not None,
    "SITE_URL": ENVIRONMENT["BASE_URL"],
    "QUEUE": NETWORK_QUEUE,
}
DEFAULT_FROM_EMAIL = ENVIRONMENT["EMAIL_FROM"] or f"noreply@{_base_url.hostname}"

LOGIN_URL = "/login"
LOGIN_REDIRECT_URL = "/editor/"
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ("username", "display_name", "email")},
    },
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
# A month without a visit, and the author signs in again.
SESSION_COOKIE_AGE = 30 * 24 * 3600
# In the memory of the one web process. It holds the counts of failed sign-ins: many, so that no flood of names and
# addresses washes out the one that matters.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    }
}
CSRF_FAILURE_VIEW = "vernier.editor.refused.csrf_failed"
CSRF_TRUSTED_ORIGINS = [ENVIRONMENT["BASE_URL"]]
CSRF_COOKIE_SECURE = SESSION_COOKIE_SECURE = _is_https
CSRF_COOKIE_HTTPONLY = SESSION_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = SESSION_COOKIE_SAMESITE = "Lax"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "strict-origin-when-cross-origin"
X_FRAME_OPTIONS = "DENY"
SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    # Photos that a post links are on other sites; those that are just being uploaded, in the browser alone.
    "img-src": [CSP.SELF, "https:", "http:", "data:", "blob:"],
    "connect-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
}

# As many as `media_api.form_intake` lets through: a post may have a thousand properties.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1100

USE_TZ = True
TIME_ZONE = ENVIRONMENT["TIME_ZONE"]
LANGUAGE_CODE = "en"
LOGGING = logging_settings(log_format=ENVIRONMENT["LOG_FORMAT"], level=ENVIRONMENT["LOG_LEVEL"])
