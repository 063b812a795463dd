"""Authorization codes: made when the author approves, redeemed once, at either endpoint."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.crypto import constant_time_compare

from vernier.authors.secret import hash_secret, new_secret
from vernier.indieauth.exceptions import InvalidGrant, Replayed
from vernier.indieauth.grants import issue_tokens, revoke_grant
from vernier.indieauth.identifiers import canonical
from vernier.indieauth.models import AuthorizationCode, Grant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from vernier.authors.models import Author
    from vernier.indieauth.grants import Issued

# RFC 6749 section 4.1.2 recommends ten minutes at most; the client redeems it in the same second.
CODE_LIFE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """What an author has approved for which client."""

    author: Author
    client_id: str
    client_name: str
    redirect_uri: str
    scope: str
    code_challenge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Redemption:
    """What a client sends to redeem a code."""

    code: str
    client_id: str
    redirect_uri: str
    code_verifier: str | None


def issue_code(approval: Approval, *, now: datetime) -> str:
    """Return the secret of a new code, of which the hash is kept."""
    secret = new_secret()
    AuthorizationCode.objects.create(
        sha256=hash_secret(secret),
        author=approval.author,
        client_id=approval.client_id,
        client_name=approval.client_name,
        redirect_uri=approval.redirect_uri,
        scope=approval.scope,
        code_challenge=approval.code_challenge,
        created_at=now,
        expires_at=now + CODE_LIFE,
    )
    return secret


def redeem_for_identity(redemption: Redemption, *, now: datetime) -> AuthorizationCode:
    """Use the code up and return it; raise InvalidGrant."""
    with _replay_revoked(redemption, now=now):
        code = _matching_code(redemption, now=now)
        _claim(code, now=now)
    return code


def redeem_for_tokens(redemption: Redemption, *, now: datetime) -> Issued:
    """Use the code up and return the tokens of its grant; raise InvalidGrant."""
    with _replay_revoked(redemption, now=now):
        code = _matching_code(redemption, now=now)
        if not code.scope:
            raise InvalidGrant("The code has no scope, and so no token; redeem it at the authorization endpoint.")
        with transaction.atomic():
            _claim(code, now=now)
            return _issue(code, now=now)


def s256(verifier: str) -> str:
    """Return the challenge of a verifier: RFC 7636 section 4.2."""
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


@contextmanager
def _replay_revoked(redemption: Redemption, *, now: datetime) -> Iterator[None]:
    """End what a code was redeemed for when it comes again: it was stolen, now or then (RFC 6749 section 4.1.2)."""
    try:
        yield
    except Replayed:
        for grant in Grant.objects.filter(code__sha256=hash_secret(redemption.code)):
            revoke_grant(grant, now=now)
        raise


def _matching_code(redemption: Redemption, *, now: datetime) -> AuthorizationCode:
    """Return the code if the client may have it; the look-up by hash tells nothing of the secret by its time."""
    codes = AuthorizationCode.objects.select_related("author__photo")
    code = codes.filter(sha256=hash_secret(redemption.code), author__is_active=True).first()
    if code is None:
        raise InvalidGrant("The code is unknown.")
    if code.used_at is not None:
        raise _replayed()
    if code.expires_at <= now:
        raise InvalidGrant(f"The code is expired: it is good for {CODE_LIFE.total_seconds() / 60:.0f} minutes.")
    if code.client_id != redemption.client_id:
        raise InvalidGrant("The code was issued to another client_id.")
    if canonical(code.redirect_uri) != redemption.redirect_uri:
        raise InvalidGrant("The redirect_uri is not the one of the authorization request.")
    _check_verifier(code, redemption.code_verifier)
    return code


def _check_verifier(code: AuthorizationCode, verifier: str | None) -> None:
    """Check PKCE both ways: a verifier without a challenge means that somebody took the challenge away (RFC 9700)."""
    if not code.code_challenge and verifier is None:
        return
    if verifier is None or not constant_time_compare(s256(verifier), code.code_challenge):
        raise InvalidGrant("The code_verifier does not match the code_challenge.")


def _claim(code: AuthorizationCode, *, now: datetime) -> None:
    if not AuthorizationCode.objects.claim(code, now=now):
        raise _replayed()


def _issue(code: AuthorizationCode, *, now: datetime) -> Issued:
    grant = Grant.objects.create(
        author=code.author, client_id=code.client_id, client_name=code.client_name, scope=code.scope, created_at=now
    )
    AuthorizationCode.objects.filter(pk=code.pk).update(grant=grant)
    return issue_tokens(grant, scope=code.scope, now=now)


def _replayed() -> Replayed:
    return Replayed("The code was used before; tokens that came from it are revoked.")
