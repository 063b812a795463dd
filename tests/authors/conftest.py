from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache

from tests.authors.pages import PASSWORD


class Clock:
    """The time as the site sees it: it stands still until a test moves it."""

    def __init__(self) -> None:
        # A quarter of an hour has just begun.
        self.now = datetime(2030, 1, 1, 12, 0, 1, tzinfo=UTC)

    def move(self, **delay):
        self.now += timedelta(**delay)


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("django.utils.timezone.now", lambda: clock.now)
    return clock


@pytest.fixture(autouse=True)
def fresh_counts():
    """Let no test meet the failures of another."""
    cache.clear()


@pytest.fixture
def mail_enabled(settings):
    settings.VERNIER_MAIL = {"ENABLED": True, "SITE_URL": "https://example.org"}


@pytest.fixture
def ann(db):
    """An author with a password and an address."""
    from vernier.authors.models import Author

    return Author.objects.create_user("ann", "ann@example.net", PASSWORD)
