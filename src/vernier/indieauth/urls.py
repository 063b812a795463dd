from __future__ import annotations

from django.urls import path

from vernier.indieauth.authorize import authorize
from vernier.indieauth.introspect import introspect
from vernier.indieauth.issued_tokens import issued_tokens
from vernier.indieauth.metadata import metadata
from vernier.indieauth.revoke import revoke
from vernier.indieauth.token import token
from vernier.indieauth.userinfo import userinfo

app_name = "indieauth"

urlpatterns = [
    path(".well-known/oauth-authorization-server", metadata, name="well_known"),
    path("indieauth/metadata", metadata, name="metadata"),
    path("indieauth/authorize", authorize, name="authorize"),
    path("indieauth/token", token, name="token"),
    path("indieauth/introspect", introspect, name="introspect"),
    path("indieauth/revoke", revoke, name="revoke"),
    path("indieauth/userinfo", userinfo, name="userinfo"),
    path("editor/tokens", issued_tokens, name="tokens"),
]
