"""What has expired is deleted, and an idle site is left alone."""

from datetime import timedelta

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import connection
from django.test.utils import CaptureQueriesContext

from vernier.authors.forget import forget_expired
from vernier.authors.models import SignInCode, SignInLink
from vernier.authors.sign_in_code import ask_for_code
from vernier.authors.sign_in_link import issue_sign_in_link

pytestmark = pytest.mark.django_db


def test_forget__sessions_codes_and_links(ann, clock):
    session = SessionStore()
    session["x"] = 1
    session.save()
    ask_for_code("ann", now=clock.now)
    issue_sign_in_link(ann, now=clock.now)
    assert forget_expired(clock.now) == 0
    assert forget_expired(clock.now + timedelta(days=1)) == 1
    assert (SignInCode.objects.count(), SignInLink.objects.count()) == (0, 1)
    assert forget_expired(clock.now + timedelta(days=32)) == 2
    assert (Session.objects.count(), SignInLink.objects.count()) == (0, 0)


def test_forget__writes_nothing_where_nothing_has_expired(ann, clock):
    issue_sign_in_link(ann, now=clock.now)
    with CaptureQueriesContext(connection) as queries:
        forget_expired(clock.now)
    assert all(query["sql"].startswith("SELECT") for query in queries)
