import pytest

from tests.mail.smtp_server import smtp_server


@pytest.fixture
def mail_enabled(settings):
    """A site with a mail server, which is the outbox of Django's tests."""
    settings.VERNIER_MAIL = {"ENABLED": True, "SITE_URL": "https://example.org"}


@pytest.fixture
def server(settings, mail_enabled):
    """A real mail server that the site uses."""
    with smtp_server() as running:
        settings.MAILERS = running.mailers
        yield running
