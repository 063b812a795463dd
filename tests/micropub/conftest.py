import httpx
import pytest

from tests.media_api.conftest import jpeg, migrated_database, start_site, wait_until  # noqa: F401 - fixtures
from tests.micropub.client import Micropub
from tests.net.conftest import start_server  # noqa: F401 - a fixture
from vernier.authors.models import Author, issue_token

SCOPE = "create update delete undelete media"


@pytest.fixture
def other(db):
    return Author.objects.create_user("bob")


@pytest.fixture
def client_with(author):
    """Make a client with these scopes, of Alice unless another author is named."""
    return lambda scope=SCOPE, owner=author: Micropub(issue_token(owner, scope=scope))


@pytest.fixture
def micropub(client_with):
    return client_with()


@pytest.fixture
def stranger(client_with, other):
    """A client of another author."""
    return client_with(owner=other)


@pytest.fixture(scope="session")
def site(start_site):  # noqa: F811 - the fixture
    """A real server, for forms with files."""
    return start_site(server="tests.micropub.server", media={"UPLOAD_MAX_BYTES": 1024 * 1024})


@pytest.fixture
def post_form(site):
    """Post a multipart form with files to the real server."""

    def post(files, data=(), *, token=None, headers=None):
        parts = [(name, (None, value)) for name, value in data]
        parts += [(name, (f"{name}.jpg", content, "image/jpeg")) for name, content in files]
        authorization = {} if token == "" else {"Authorization": f"Bearer {token or site.token}"}
        return httpx.post(
            f"{site.url}/micropub", files=parts, headers={**authorization, **(headers or {})}, timeout=30
        )

    return post


@pytest.fixture
def source(site):
    """Ask the real server for a post's properties."""

    def source(url):
        parameters = {"q": "source", "url": url}
        answer = httpx.get(f"{site.url}/micropub", params=parameters, headers=site.headers(), timeout=30)
        assert answer.status_code == 200, answer.text
        return answer.json()["properties"]

    return source
