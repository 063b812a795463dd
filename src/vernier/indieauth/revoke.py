"""`/indieauth/revoke`: IndieAuth section 7, RFC 7009."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone

from vernier.indieauth.grants import revoke_secret
from vernier.indieauth.parameters import form, needed
from vernier.indieauth.rate_limit import limit_revocations
from vernier.indieauth.views import endpoint, private_json

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse, QueryDict


@endpoint("POST")
def revoke(request: HttpRequest) -> HttpResponse:
    return revoke_named(request, form(request))


def revoke_named(request: HttpRequest, parameters: QueryDict) -> HttpResponse:
    """End the token, and answer the same for one that is unknown or ended: who has it may end it."""
    limit_revocations(request)
    revoke_secret(needed(parameters, "token"), now=timezone.now())
    return private_json({})
