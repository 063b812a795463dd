"""Tokens of a grant: issued together, refreshed in turn, revoked together."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction

from vernier.authors.models import AccessToken, issue_token
from vernier.authors.secret import hash_secret, new_secret
from vernier.indieauth.exceptions import InvalidGrant, InvalidScope, Replayed
from vernier.indieauth.models import Grant, RefreshToken

if TYPE_CHECKING:
    from datetime import datetime

# Micropub clients in use never refresh: they ask their author to sign in again, which should be once a year at most.
ACCESS_LIFE = timedelta(days=365)
# Longer, so that a client that does refresh may be idle for a year after its access token has ended.
REFRESH_LIFE = timedelta(days=730)
# After a refresh the token before may still be on its way in another request of the client.
OVERLAP = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """The secrets of a new access token and its refresh token, which exist in plain here only."""

    grant: Grant
    access_token: str
    refresh_token: str
    scope: str
    expires_in_seconds: int


def issue_tokens(grant: Grant, *, scope: str, now: datetime) -> Issued:
    """Make an access token with that scope, and the refresh token for the grant's whole scope."""
    access = issue_token(
        grant.author,
        scope=scope,
        name=grant.client_name,
        client_id=grant.client_id,
        expires_at=now + ACCESS_LIFE,
        now=now,
    )
    grant.access_tokens.add(AccessToken.objects.get(sha256=hash_secret(access)))
    refresh_token = new_secret()
    RefreshToken.objects.create(
        sha256=hash_secret(refresh_token), grant=grant, created_at=now, expires_at=now + REFRESH_LIFE
    )
    return Issued(
        grant=grant,
        access_token=access,
        refresh_token=refresh_token,
        scope=scope,
        expires_in_seconds=int(ACCESS_LIFE.total_seconds()),
    )


def refresh(secret: str, *, client_id: str, scope: str | None, now: datetime) -> Issued:
    """Return new tokens for a refresh token, with its scope or a part of it; raise InvalidGrant or InvalidScope.

    A refresh token that comes a second time was stolen, now or then: the grant ends (RFC 9700 section 4.14.2).
    """
    token = RefreshToken.objects.select_related("grant__author").filter(sha256=hash_secret(secret)).first()
    if token is None or token.grant.client_id != client_id:
        raise InvalidGrant("The refresh token is unknown, or was issued to another client.")
    if not _is_live(token.grant) or token.expires_at <= now:
        raise InvalidGrant("The refresh token is expired or revoked.")
    wanted = _narrowed(token.grant, scope)
    try:
        with transaction.atomic():
            return _exchange(token, scope=wanted, now=now)
    except Replayed:
        revoke_grant(token.grant, now=now)
        raise


def revoke_secret(secret: str, *, now: datetime) -> None:
    """End the access or refresh token, if there is one, and all that came from the same sign-in (RFC 7009)."""
    sha256 = hash_secret(secret)
    for access in AccessToken.objects.filter(sha256=sha256, revoked_at=None):
        revoke_access_token(access, now=now)
    for token in RefreshToken.objects.select_related("grant").filter(sha256=sha256):
        revoke_grant(token.grant, now=now)


def revoke_access_token(token: AccessToken, *, now: datetime) -> None:
    """End the token, and with it the refresh token that could make the next one."""
    AccessToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now)
    for grant in Grant.objects.filter(access_tokens=token):
        revoke_grant(grant, now=now)


def revoke_grant(grant: Grant, *, now: datetime) -> None:
    with transaction.atomic():
        Grant.objects.filter(pk=grant.pk, revoked_at=None).update(revoked_at=now)
        grant.access_tokens.filter(revoked_at=None).update(revoked_at=now)


def _is_live(grant: Grant) -> bool:
    """Tell whether nobody has ended it; an access token may have been revoked by other means than this module."""
    revoked = grant.access_tokens.filter(revoked_at__isnull=False)
    return grant.revoked_at is None and grant.author.is_active and not revoked.exists()


def _narrowed(grant: Grant, scope: str | None) -> str:
    """Return the scope of the next access token (RFC 6749 section 6)."""
    granted = grant.scope.split()
    wanted = list(dict.fromkeys(scope.split())) if scope else granted
    more = [name for name in wanted if name not in granted]
    if more or not wanted:
        raise InvalidScope(f"The scope {scope!r} is wider than what was granted: {grant.scope}.")
    return " ".join(wanted)


def _exchange(token: RefreshToken, *, scope: str, now: datetime) -> Issued:
    """Use the refresh token up and make the next tokens; raise Replayed."""
    if not RefreshToken.objects.claim(token, now=now):
        raise Replayed("The refresh token was used before; the tokens of this sign-in are revoked.")
    end = now + OVERLAP
    token.grant.access_tokens.filter(expires_at__gt=end).update(expires_at=end)
    return issue_tokens(token.grant, scope=scope, now=now)
