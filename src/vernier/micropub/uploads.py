"""Posts that come with their photos in one form: what may be in it, and who may send it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vernier.media_api.form_handler import FormEndpoint
from vernier.media_api.sender import find_sender, form_tokens, has_token

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpRequest

MICROPUB_PATH = "/micropub"
CREATE_SCOPES = ("create", "draft")
# What a phone lets people choose at once; more are uploaded to the media endpoint.
FILES_MAX = 20


def knows_sender(request: HttpRequest, fields: Sequence[tuple[str, str]]) -> bool:
    """Tell whether there is a token yet; raise ApiError for one that is not valid or may not create."""
    authorization, tokens = request.headers.get("Authorization"), form_tokens(fields)
    if not has_token(authorization, tokens):
        return False
    find_sender(authorization, tokens, scopes=CREATE_SCOPES)
    return True


ENDPOINTS = (
    FormEndpoint(
        matches=lambda path: path == MICROPUB_PATH,
        file_fields=frozenset({"photo", "photo[]"}),
        files_max=FILES_MAX,
        authorise=knows_sender,
    ),
)
