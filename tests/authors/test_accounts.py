"""Accounts: which names a new author may have."""

import pytest
from django.core.exceptions import ValidationError

from vernier.authors.accounts import create_author
from vernier.authors.models import Author


@pytest.mark.django_db
def test_create_author__name_that_differs_in_capitals_only_is_refused():
    create_author("alice")
    with pytest.raises(ValidationError, match="in capitals only"):
        create_author("Alice")
    assert Author.objects.count() == 1
