"""How the admin finds rows of a large archive: each question goes by an index, or ends after a bounded number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, Q
from django.utils.functional import cached_property

from vernier.media.models import Media, Version

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

# Rows that a list counts and pages through; who looks for one further down searches.
COUNTED_MAX = 5000
# Authors that a name may begin with; who has more of them writes more of the name.
AUTHORS_MAX = 50
# Hexadecimal digits from which on a search is for an id too.
ID_DIGITS_MIN = 8
_ID_DIGITS = 32
SEARCH_HELP = f"An id, the first {ID_DIGITS_MIN} or more characters of one, or how an author's name begins."

_DELETED = "deleted"
# Each of these has an index of its own.
_FEW = {Version.Status.PENDING, Version.Status.PROCESSING, Version.Status.FAILED}


class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts no further than the rows that it has pages for."""

    @cached_property
    def count(self) -> int:
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment] # of a list of the admin
        return rows[:COUNTED_MAX].count()


class StatusFilter(admin.SimpleListFilter):
    """Versions by status."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:  # noqa: ARG002
        return [(str(value), label) for value, label in Version.Status.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        status = self.value()
        if status in _FEW:
            # By the index that they have; the order of the list would lead through the whole table.
            return queryset.filter(pk__in=Version.objects.filter(status=status).values("pk"))
        return queryset.filter(status=status) if status else queryset


class StateFilter(StatusFilter):
    """Media by the status of their newest Version."""

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        return [*super().lookups(request, model_admin), (_DELETED, "Deleted")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        status = self.value()
        if status == _DELETED:
            return queryset.exclude(deleted_at=None)
        return queryset.filter(_has_newest(status), deleted_at=None) if status else queryset


def find_rows(queryset: QuerySet[Any], search_term: str, *, media_path: str) -> QuerySet[Any]:
    """Return the rows of these Media or authors; `media_path` leads from a row to the id of its Media."""
    term = search_term.strip()
    if not term:
        return queryset
    found = _of_authors(term, media_path)
    if ids := _id_range(term):
        first, last = ids
        found |= Q(**{f"{media_path}__gte": first, f"{media_path}__lte": last})
    return queryset.filter(found)


def _has_newest(status: str) -> Q:
    """Return the condition on a Media: the few that are in flight or failed by their index, the many one by one."""
    versions = Version.objects.filter(status=status)
    if status in _FEW:
        return Q(pk__in=versions.newest().values("media_id"))
    return Q(Exists(versions.filter(media=OuterRef("pk"), number=OuterRef("newest_number"))))


def _of_authors(name: str, media_path: str) -> Q:
    """Return the condition on rows: of a few Media by their index, of very many one by one in the list's order."""
    owners = _authors(name)
    media = Media.objects.filter(owner__in=owners)
    if not owners or media[:COUNTED_MAX].count() < COUNTED_MAX:
        return Q(**{f"{media_path}__in": media.values("pk")})
    return Q(Exists(media.filter(pk=OuterRef(media_path))))


def _authors(name: str) -> list[Any]:
    """Return the ids of the authors whose name begins so, in upper and lower case as it is written."""
    model = get_user_model()
    field = model.USERNAME_FIELD
    ends_before = name + chr(0x10FFFF)
    named = model._default_manager.filter(**{f"{field}__gte": name, f"{field}__lt": ends_before})  # noqa: SLF001
    return list(named.order_by(field).values_list("pk", flat=True)[:AUTHORS_MAX])


def _id_range(term: str) -> tuple[UUID, UUID] | None:
    """Return the first and the last id that begin so, or None for what is no beginning of an id."""
    digits = term.replace("-", "").lower()
    if not (ID_DIGITS_MIN <= len(digits) <= _ID_DIGITS and set(digits) <= set("0123456789abcdef")):
        return None
    return UUID(digits.ljust(_ID_DIGITS, "0")), UUID(digits.ljust(_ID_DIGITS, "f"))
