"""What clients ask before they post (Micropub section 3.7): each part of the configuration, also alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max, Q

from vernier.media_api.errors import insufficient_scope, invalid_request
from vernier.media_api.paging import LIMIT_MAX, requested_slice
from vernier.media_api.reading import quoted
from vernier.micropub.source import source
from vernier.posts.entry import Kind, Status, Visibility
from vernier.posts.models import Tag
from vernier.posts.write import tag_slug

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import QueryDict

    from vernier.authors.models import AccessToken

# Whoever may do something with posts may read them, drafts among them. A token that only tells who the author is,
# or only brings files, may not.
READ_SCOPES = ("create", "update", "delete", "undelete", "draft")
_COMMON = ["category", "published", "post-status", "visibility", "mp-slug"]
# What clients offer a field for, by the kind of post.
_PROPERTIES = {
    Kind.NOTE: ["content", "photo", "mp-photo-alt"],
    Kind.ARTICLE: ["name", "content", "summary", "photo", "mp-photo-alt"],
    Kind.PHOTO: ["photo", "mp-photo-alt", "content"],
    Kind.REPLY: ["in-reply-to", "content", "photo", "mp-photo-alt"],
    Kind.LIKE: ["like-of"],
    Kind.REPOST: ["repost-of", "content"],
    Kind.BOOKMARK: ["bookmark-of", "name", "content"],
    Kind.RSVP: ["in-reply-to", "rsvp", "content"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Who asks, with what, and what addresses begin with."""

    token: AccessToken
    parameters: QueryDict
    base: str


def answer(query: Query) -> dict[str, Any]:
    """Return what is asked for; raise ApiError for a query that does not exist, or is not for this token.

    Some clients find out whether their token is valid by asking nothing: that is answered with the configuration.
    """
    asked = query.parameters.get("q", "config")
    if asked not in _ANSWERS:
        raise invalid_request(f"The query q is {quoted(asked)}; valid are {', '.join(_ANSWERS)}.")
    if asked in _OF_POSTS and query.token.scopes.isdisjoint(READ_SCOPES):
        raise insufficient_scope(READ_SCOPES[0])
    return _ANSWERS[asked](query)


def _config(query: Query) -> dict[str, Any]:
    parts = (_media_endpoint, _syndicate_to, _channels, _post_types, _visibility)
    return {"q": list(_ANSWERS), **{name: value for part in parts for name, value in part(query).items()}}


def _media_endpoint(query: Query) -> dict[str, Any]:
    return {"media-endpoint": f"{query.base}/media"}


def _syndicate_to(query: Query) -> dict[str, Any]:  # noqa: ARG001 - as all answers
    return {"syndicate-to": []}


def _channels(query: Query) -> dict[str, Any]:  # noqa: ARG001 - as all answers
    return {"channels": []}


def _post_types(query: Query) -> dict[str, Any]:  # noqa: ARG001 - as all answers
    types = [
        {"type": str(kind), "name": str(kind.label), "properties": [*properties, *_COMMON]}
        for kind, properties in _PROPERTIES.items()
    ]
    return {"post-types": types}


def _visibility(query: Query) -> dict[str, Any]:  # noqa: ARG001 - as all answers
    return {"visibility": list(Visibility.values), "post-status": list(Status.values)}


def _categories(query: Query) -> dict[str, Any]:
    """List the author's tags, the most used first."""
    tags = Tag.objects.filter(post__author=query.token.author, post__deleted_at=None)
    if wanted := query.parameters.get("filter") or query.parameters.get("search"):
        tags = tags.filter(Q(name__icontains=wanted) | Q(slug__contains=tag_slug(wanted)))
    counted = tags.values("slug").annotate(uses=Count("pk"), shown=Max("name")).order_by("-uses", "slug")
    wanted_slice = requested_slice(query.parameters, limit_default=LIMIT_MAX)
    return {"categories": [tag["shown"] for tag in counted[wanted_slice]]}


_ANSWERS: dict[str, Callable[[Query], dict[str, Any]]] = {
    "config": _config,
    "source": source,
    "media-endpoint": _media_endpoint,
    "syndicate-to": _syndicate_to,
    "category": _categories,
    "channel": _channels,
    "post-types": _post_types,
    "visibility": _visibility,
}
_OF_POSTS = {"source", "category"}
