"""Authors, what lets them in, and the bearer tokens with which their programs speak for them."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.db import DatabaseError, models
from django.utils import timezone

from vernier.authors.secret import hash_secret, new_secret

if TYPE_CHECKING:
    from datetime import datetime

logger = logging.getLogger("vernier.authors")

# Tells a leaked string at sight, for people and for secret scanners.
TOKEN_PREFIX = "vernier_"  # noqa: S105 - the public part
SCOPES = ("create", "update", "delete", "undelete", "media", "draft", "profile", "email")
# How exactly the last use of a token is known: at most one write in that time.
USE_RESOLUTION = timedelta(hours=1)


class Author(AbstractUser):
    """Somebody who owns Media and posts; the profile is the page's h-card."""

    display_name = models.CharField(max_length=100, blank=True)
    note = models.TextField(blank=True)
    photo = models.ForeignKey("media.Media", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    # Addresses of the same person elsewhere, shown with rel=me.
    links = models.JSONField(default=list, blank=True)

    def clean(self) -> None:
        super().clean()
        # Browsers would leave it out of the address of the author's page.
        if self.username in {".", ".."}:
            raise ValidationError(f"The name {self.username!r} is no part of an address; valid is one with letters.")

    @property
    def shown_name(self) -> str:
        return self.display_name or self.get_username()


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
    # The IndieAuth client that it was issued to; none for one made on the command line.
    client_id = models.CharField(max_length=2048, blank=True)
    created_at = models.DateTimeField()
    # To the hour: a write for every request would be too much.
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = AccessTokenQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.author} ({self.scope})"

    @property
    def scopes(self) -> frozenset[str]:
        return frozenset(self.scope.split())


class SignInLinkQuerySet(models.QuerySet["SignInLink"]):
    def usable(self, now: datetime) -> SignInLinkQuerySet:
        """Those that still let somebody in."""
        is_for_active = models.Q(author=None) | models.Q(author__is_active=True)
        return self.filter(is_for_active, used_at=None, expires_at__gt=now)


class SignInLink(models.Model):
    """A link that signs an author in once; without an author, it makes the site's first one."""

    author = models.ForeignKey(Author, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    used_at = models.DateTimeField(null=True, blank=True)

    objects = SignInLinkQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.author or 'the first author'} until {self.expires_at}"


class SignInCodeQuerySet(models.QuerySet["SignInCode"]):
    def usable(self, now: datetime) -> SignInCodeQuerySet:
        """Those that still let somebody in, if the right digits are given."""
        return self.filter(used_at=None, expires_at__gt=now, attempts__lt=SignInCode.ATTEMPTS_MAX)


class SignInCode(models.Model):
    """A code that was asked for by a browser, and is mailed if there is an author to mail it to.

    There is a row whether there is such an author or not: the answer is the same, and so is the work for it.
    """

    # A right guess in five of a million.
    ATTEMPTS_MAX = 5

    # Of the secret that only the session of the browser has which asked for the code.
    browser_sha256 = models.CharField(max_length=64, unique=True, editable=False)
    # What was typed, until the author is looked up.
    asked_for = models.CharField(max_length=254, blank=True)
    author = models.ForeignKey(Author, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    # Keyed with SECRET_KEY: a million codes are soon tried by whoever has the database alone.
    code_hmac = models.CharField(max_length=64, blank=True, editable=False)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    attempts = models.PositiveIntegerField(default=0)
    used_at = models.DateTimeField(null=True, blank=True)

    objects = SignInCodeQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.author or 'nobody'} until {self.expires_at}"


def issue_token(  # noqa: PLR0913 - the columns of a token
    author: Author,
    *,
    scope: str,
    name: str = "",
    client_id: str = "",
    expires_at: datetime | None = None,
    now: datetime | None = None,
) -> str:
    """Make a token and return its secret, which is shown this once; raise ValueError for an unknown scope."""
    wanted = scope.split()
    unknown = sorted(set(wanted) - set(SCOPES))
    if unknown or not wanted:
        raise ValueError(f"The scope {scope!r} has no meaning here; valid are {' '.join(SCOPES)}.")
    secret = TOKEN_PREFIX + new_secret()
    AccessToken.objects.create(
        author=author,
        sha256=hash_secret(secret),
        scope=" ".join(wanted),
        name=name,
        client_id=client_id,
        created_at=now or timezone.now(),
        expires_at=expires_at,
    )
    return secret


def find_token(secret: str, *, now: datetime | None = None) -> AccessToken | None:
    """Return the valid token with this secret, with its author, or None.

    The look-up goes by the hash: what an attacker can time tells nothing about the secret.
    """
    return (
        AccessToken.objects.valid(now or timezone.now())
        .select_related("author")
        .filter(sha256=hash_secret(secret))
        .first()
    )


def touch_token(token: AccessToken, *, now: datetime | None = None) -> None:
    """Note that the token was used, to the hour; of uses at the same time, one writes."""
    now = now or timezone.now()
    limit = now - USE_RESOLUTION
    if token.last_used_at is not None and token.last_used_at > limit:
        return
    unnoted = models.Q(last_used_at=None) | models.Q(last_used_at__lte=limit)
    try:
        AccessToken.objects.filter(unnoted, pk=token.pk).update(last_used_at=now)
    except DatabaseError as error:
        # A request that only reads is answered although the disk is full or the database busy.
        logger.warning("The use of a token was not noted: %s", error, extra={"event": "token_use_not_noted"})
