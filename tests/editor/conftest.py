import pytest
from django.test import Client

from tests.editor.pages import Browser
from vernier.posts.entry import Content, ContentFormat, Entry
from vernier.posts.write import create_post


@pytest.fixture
def client(author):
    """A client that is signed in."""
    client = Client()
    client.force_login(author)
    return client


@pytest.fixture
def other_author(author):
    from vernier.authors.models import Author

    return Author.objects.create_user("bob")


@pytest.fixture
def browser(transactional_db, author):
    return Browser(author)


@pytest.fixture
def write(author):
    """Write a post of the author."""

    def write_post(text="Hello.", **fields):
        content = Content(format=ContentFormat.MARKDOWN, source=text) if text else None
        return create_post(author, Entry(**{"content": content, **fields})).post

    return write_post
