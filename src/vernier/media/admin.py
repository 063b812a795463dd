"""The admin's pages of Media, Versions and Renditions: to look at, with two actions, and nothing to edit.

A page costs the same whatever the size of the archive: rows come in the order of an index, and are counted up to a
bound. Nothing is rendered for a list: a thumbnail is the smallest rendition that is there already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.db.models import Prefetch
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.timesince import timesince

from vernier.media.admin_search import SEARCH_HELP, BoundedPaginator, StateFilter, StatusFilter, find_rows
from vernier.media.conf import media_settings
from vernier.media.delete import delete_media
from vernier.media.finish import process_again
from vernier.media.models import Media, Rendition, Version

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import Model, QuerySet
    from django.http import HttpRequest

    from vernier.media.transitions import VersionQuerySet

# Rows that one action takes: each is a transaction of its own, and somebody waits for the answer.
ACTED_MAX = 500
# Rows of a detail page: a Media may have been replaced any number of times.
SHOWN_MAX = 20
# The side of the square that a thumbnail is shown in.
_THUMBNAIL_PIXELS = 80
# How the HTTP interface of media names its address of a rendition; a project without it has no thumbnails.
_RENDITION_URL = "media_api:versioned"


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A list and pages to look at: what changes a row, beside the actions, is the pipeline."""

    actions_selection_counter = True
    list_per_page = 50
    paginator = BoundedPaginator
    show_full_result_count = False
    # They would count the whole table, once per choice.
    show_facets = admin.ShowFacets.NEVER
    # A click on any other column would sort the whole table.
    sortable_by: ClassVar[tuple[str, ...]] = ()
    search_fields: ClassVar[tuple[str, ...]] = ("pk",)
    search_help_text = SEARCH_HELP
    # The way from a row to the id of its Media.
    media_path = "pk"

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - Django's signature
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False

    def get_search_results(
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        queryset: QuerySet[Any],
        search_term: str,
    ) -> tuple[QuerySet[Any], bool]:
        return find_rows(queryset, search_term, media_path=self.media_path), False


@admin.register(Media)
class MediaAdmin(ReadOnlyAdmin):
    list_display = ("id", "thumbnail", "owner", "state", "age", "attempts", "failure")
    list_display_links = ("id",)
    list_filter = (StateFilter,)
    ordering = ("pk",)
    actions = ("delete",)
    fields = (
        *("id", "thumbnail", "owner", "current", "state", "attempts", "failure"),
        *("created_at", "deleted_at", "cleanup_at", "cleaned_at", "newest_versions"),
    )
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Media]:
        newest = Version.objects.newest()
        return (
            super()
            .get_queryset(request)
            .select_related("owner", "current")
            .prefetch_related("current__renditions", Prefetch("versions", newest, to_attr="newest"))
        )

    @admin.display(description="image")
    def thumbnail(self, media: Media) -> str:
        return _thumbnail(media.current)

    @admin.display
    def state(self, media: Media) -> str:
        newest = _newest(media)
        if media.deleted_at is not None:
            return "Deleted"
        return newest.get_status_display() if newest else "-"

    @admin.display
    def age(self, media: Media) -> str:
        return _age(media.created_at)

    @admin.display
    def attempts(self, media: Media) -> int | None:
        newest = _newest(media)
        return newest.attempts if newest else None

    @admin.display
    def failure(self, media: Media) -> str:
        newest = _newest(media)
        return newest.get_failure_code_display() if newest else ""

    @admin.display(description="Versions")
    def newest_versions(self, media: Media) -> str:
        """List the newest; the page of Versions, searched by id, has the others."""
        rows = media.versions.order_by("-number")[:SHOWN_MAX]
        return _links(
            (_page(row), f"{row.number}: {row.get_status_display()}", row.get_failure_code_display()) for row in rows
        )

    @admin.action(description="Delete: from all pages at once, with every file", permissions=["act"])
    def delete(self, request: HttpRequest, queryset: QuerySet[Media]) -> None:
        # The tombstones stay in the list: the next go is to find others before it.
        chosen = list(queryset.filter(deleted_at=None)[: ACTED_MAX + 1])
        for media in chosen[:ACTED_MAX]:
            delete_media(media.pk, owner=media.owner)
        _tell(self, request, f"Deleted: {len(chosen[:ACTED_MAX])}.", chosen)

    def has_act_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("media.delete_media"))


@admin.register(Version)
class VersionAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "thumbnail", "owner", "status", "age", "attempts", "failure")
    list_filter = (StatusFilter,)
    ordering = ("-pk",)
    actions = ("process_again",)
    media_path = "media_id"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Version]:
        return super().get_queryset(request).select_related("media", "media__owner").prefetch_related("renditions")

    def get_fields(self, request: HttpRequest, obj: Version | None = None) -> list[Any]:  # noqa: ARG002
        """Everything but the definitions, which are long, and the token, which is of use to its worker only."""
        hidden = {"variants", "lease_token"}
        stored = [field.name for field in Version._meta.concrete_fields if field.name not in hidden]  # noqa: SLF001
        return ["thumbnail", *stored, "failure", "made"]

    def get_readonly_fields(self, request: HttpRequest, obj: Version | None = None) -> list[Any]:
        return self.get_fields(request, obj)

    @admin.display(description="image")
    def thumbnail(self, version: Version) -> str:
        return _thumbnail(version)

    @admin.display
    def owner(self, version: Version) -> str:
        return str(version.media.owner)

    @admin.display
    def age(self, version: Version) -> str:
        return _age(version.accepted_at)

    @admin.display
    def failure(self, version: Version) -> str:
        return version.get_failure_code_display()

    @admin.display(description="Renditions")
    def made(self, version: Version) -> str:
        rows = version.renditions.all()
        return _links((_page(row), row.variant, f"{row.width} x {row.height}, {row.byte_size} bytes") for row in rows)

    @admin.action(description="Process again, where the failure may pass", permissions=["act"])
    def process_again(self, request: HttpRequest, queryset: VersionQuerySet) -> None:
        now = timezone.now()
        # What cannot be stays in the list: the next go is to find others before it.
        able = queryset.newest().repeatable(now=now, conf=media_settings())
        refused, chosen = queryset.count() - able.count(), list(able[: ACTED_MAX + 1])
        again = sum(process_again(version, now=now) for version in chosen[:ACTED_MAX])
        told = f"Processed again: {again}."
        if refused:
            told += (
                f" Left as they are: {refused}; what is processed again has failed, for a reason that may pass, "
                "not too long ago, and nothing newer has taken its place."
            )
        _tell(self, request, told, chosen)

    def has_act_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("media.change_version"))


@admin.register(Rendition)
class RenditionAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "variant", "format", "width", "height", "byte_size", "age", "lost_at")
    ordering = ("-pk",)
    media_path = "version__media_id"

    @admin.display
    def age(self, rendition: Rendition) -> str:
        return _age(rendition.created_at)


def _newest(media: Media) -> Version | None:
    newest: list[Version] = media.newest  # type: ignore[attr-defined] # of `get_queryset`
    return newest[0] if newest else None


def _thumbnail(version: Version | None) -> str:
    """Return the smallest rendition of a Version that is served or was, scaled by the browser."""
    if version is None or version.ready_at is None:
        return ""
    made = [rendition for rendition in version.renditions.all() if rendition.lost_at is None]
    if not made:
        return ""
    smallest = min(made, key=lambda rendition: rendition.byte_size)
    url = _url(version, smallest)
    if url is None:
        return ""
    scale = min(1.0, _THUMBNAIL_PIXELS / max(smallest.width, smallest.height))
    width, height = max(1, round(smallest.width * scale)), max(1, round(smallest.height * scale))
    return format_html('<img src="{}" width="{}" height="{}" alt="" loading="lazy">', url, width, height)


def _url(version: Version, rendition: Rendition) -> str | None:
    file_name = f"{rendition.variant}.{rendition.extension}"
    try:
        return reverse(_RENDITION_URL, args=[str(version.media_id), str(version.number), file_name])
    except NoReverseMatch:
        return None


def _age(since: datetime) -> str:
    return timesince(since, depth=1)


def _page(row: Version | Rendition) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])  # noqa: SLF001


def _links(rows: Any) -> str:  # noqa: ANN401
    return format_html_join("", '<div><a href="{}">{}</a> {}</div>', rows) or "-"


def _tell(page: admin.ModelAdmin[Any], request: HttpRequest, told: str, chosen: list[Any]) -> None:
    if len(chosen) > ACTED_MAX:
        told += f" One go takes {ACTED_MAX}; do the others next."
    page.message_user(request, told, messages.SUCCESS)
