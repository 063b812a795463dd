"""Sites from before there was a sign-in."""

from importlib import import_module

import pytest
from django.apps import apps

from vernier.authors.models import Author

promote_first = import_module("vernier.authors.migrations.0004_first_author_is_operator").promote_first


@pytest.mark.django_db
def test_upgrade__first_author_becomes_the_operator():
    first, second = Author.objects.create_user("first"), Author.objects.create_user("second")
    promote_first(apps, None)
    assert Author.objects.get(pk=first.pk).is_superuser
    assert not Author.objects.get(pk=second.pk).is_staff


@pytest.mark.django_db
def test_upgrade__leaves_an_operator_alone():
    first, second = Author.objects.create_user("first"), Author.objects.create_superuser("second")
    promote_first(apps, None)
    assert not Author.objects.get(pk=first.pk).is_staff
    assert Author.objects.get(pk=second.pk).is_superuser
