"""Forget: codes, clients and sign-ins that are over and of no use to anybody."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from vernier.authors.forget import forget_some
from vernier.authors.models import AccessToken
from vernier.indieauth.models import AuthorizationCode, ClientInformation, Grant, RefreshToken

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

# A code that comes again within it still ends the tokens that it was redeemed for.
CODE_GRACE = timedelta(days=1)
# A used refresh token that comes again within it still ends its grant; a support question can still be answered.
TOKEN_GRACE = timedelta(days=30)


def forget_ended(now: datetime) -> int:
    """Remove codes, clients and the tokens of grants that have ended long enough ago; return how many rows."""
    ended = now - TOKEN_GRACE
    over: list[QuerySet[Any]] = [
        AuthorizationCode.objects.filter(expires_at__lte=now - CODE_GRACE),
        ClientInformation.objects.filter(expires_at__lte=now),
        RefreshToken.objects.filter(Q(expires_at__lte=ended) | Q(used_at__lte=ended)),
        Grant.objects.filter(Q(revoked_at__lte=ended) | Q(created_at__lte=ended, refresh_tokens=None)),
        _ended_tokens(ended),
    ]
    return sum(forget_some(rows) for rows in over)


def _ended_tokens(ended: datetime) -> QuerySet[AccessToken]:
    """Return the clients' tokens that are over. One that was revoked stays with its grant, which it keeps ended."""
    is_of_no_grant = Q(expires_at__lte=ended, grants=None) | Q(revoked_at__lte=ended, grants=None)
    return AccessToken.objects.filter(Q(expires_at__lte=ended, revoked_at=None) | is_of_no_grant).exclude(
        client_id=""
    )
