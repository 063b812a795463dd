"""Authors, and the bearer tokens with which their programs speak for them."""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone

if TYPE_CHECKING:
    from datetime import datetime

# 256 random bits: no guess succeeds and no salt is needed for the hash.
TOKEN_BYTES = 32
# Tells a leaked string at sight, for people and for secret scanners.
TOKEN_PREFIX = "vernier_"  # noqa: S105 - the public part
SCOPES = ("create", "update", "delete", "undelete", "media", "draft", "profile", "email")


class Author(AbstractUser):
    """Somebody who owns Media and posts."""


class AccessTokenQuerySet(models.QuerySet["AccessToken"]):
    def valid(self, now: datetime) -> AccessTokenQuerySet:
        return self.filter(revoked_at=None, author__is_active=True).filter(
            models.Q(expires_at=None) | models.Q(expires_at__gt=now)
        )


class AccessToken(models.Model):
    """A bearer token (RFC 6750), of which only the SHA-256 is kept."""

    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="access_tokens")
    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    # Space-separated, as OAuth 2 writes it (RFC 6749 section 3.3).
    scope = models.CharField(max_length=255)
    name = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = AccessTokenQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.author} ({self.scope})"

    @property
    def scopes(self) -> frozenset[str]:
        return frozenset(self.scope.split())


def issue_token(author: Author, *, scope: str, name: str = "", now: datetime | None = None) -> str:
    """Make a token and return its secret, which is shown this once; raise ValueError for an unknown scope."""
    wanted = scope.split()
    unknown = sorted(set(wanted) - set(SCOPES))
    if unknown or not wanted:
        raise ValueError(f"The scope {scope!r} has no meaning here; valid are {' '.join(SCOPES)}.")
    secret = TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
    AccessToken.objects.create(
        author=author,
        sha256=hash_token(secret),
        scope=" ".join(wanted),
        name=name,
        created_at=now or timezone.now(),
    )
    return secret


def find_token(secret: str, *, now: datetime | None = None) -> AccessToken | None:
    """Return the valid token with this secret, with its author, or None.

    The look-up goes by the hash: what an attacker can time tells nothing about the secret.
    """
    return (
        AccessToken.objects.valid(now or timezone.now())
        .select_related("author")
        .filter(sha256=hash_token(secret))
        .first()
    )


def hash_token(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
