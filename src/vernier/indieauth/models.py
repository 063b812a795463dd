"""Codes, grants and refresh tokens, of which only hashes are kept; and what is known of clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

from vernier.authors.models import AccessToken, Author
from vernier.indieauth.identifiers import URL_CHARACTERS_MAX

if TYPE_CHECKING:
    from datetime import datetime

NAME_CHARACTERS_MAX = 100


class Grant(models.Model):
    """What an author has allowed one client by one login; all tokens from it end together."""

    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="+")
    client_id = models.CharField(max_length=URL_CHARACTERS_MAX)
    client_name = models.CharField(max_length=NAME_CHARACTERS_MAX, blank=True)
    scope = models.CharField(max_length=255)
    access_tokens = models.ManyToManyField(AccessToken, related_name="grants")
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.client_id} for {self.author}"


class AuthorizationCodeQuerySet(models.QuerySet["AuthorizationCode"]):
    def claim(self, code: AuthorizationCode, *, now: datetime) -> bool:
        """Use the code up; tell whether this call did it. Of any number at the same time, one does."""
        return self.filter(pk=code.pk, used_at=None, expires_at__gt=now).update(used_at=now) == 1


class AuthorizationCode(models.Model):
    """What the client gets through the browser, to be redeemed once within minutes (RFC 6749 section 4.1.2)."""

    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="+")
    client_id = models.CharField(max_length=URL_CHARACTERS_MAX)
    client_name = models.CharField(max_length=NAME_CHARACTERS_MAX, blank=True)
    redirect_uri = models.CharField(max_length=URL_CHARACTERS_MAX)
    # Empty when the author was only asked who they are.
    scope = models.CharField(max_length=255, blank=True)
    # Of PKCE (RFC 7636), by S256; empty for a client that has sent none.
    code_challenge = models.CharField(max_length=128, blank=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    used_at = models.DateTimeField(null=True, blank=True)
    # What it was redeemed for; none at the authorization endpoint, which gives no token.
    grant = models.OneToOneField(Grant, null=True, blank=True, on_delete=models.SET_NULL, related_name="code")

    objects = AuthorizationCodeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="indieauth_code_unused_without_grant",
                condition=models.Q(grant=None) | models.Q(used_at__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"{self.client_id} at {self.created_at}"


class RefreshTokenQuerySet(models.QuerySet["RefreshToken"]):
    def claim(self, token: RefreshToken, *, now: datetime) -> bool:
        """Use the token up; tell whether this call did it."""
        return self.filter(pk=token.pk, used_at=None, expires_at__gt=now).update(used_at=now) == 1


class RefreshToken(models.Model):
    """Good for one new access token and the next refresh token of its grant."""

    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    grant = models.ForeignKey(Grant, on_delete=models.CASCADE, related_name="refresh_tokens")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    used_at = models.DateTimeField(null=True, blank=True)

    objects = RefreshTokenQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.grant} at {self.created_at}"


class ClientInformation(models.Model):
    """What a client publishes about itself, as it was when it was last fetched: untrusted, and shown as text only."""

    client_id = models.CharField(max_length=URL_CHARACTERS_MAX, unique=True)
    name = models.CharField(max_length=NAME_CHARACTERS_MAX, blank=True)
    logo_url = models.CharField(max_length=URL_CHARACTERS_MAX, blank=True)
    client_uri = models.CharField(max_length=URL_CHARACTERS_MAX, blank=True)
    redirect_uris = models.JSONField(default=list, blank=True)
    # Why nothing is known of it: a sentence.
    failure = models.CharField(max_length=500, blank=True)
    fetched_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.client_id
