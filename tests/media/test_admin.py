"""The admin of an archive: what an operator sees and does, and that its size costs nothing."""

import re
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.db.models import OuterRef, Q, Subquery
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from tests.media.factory import SMALL_VARIANTS
from vernier.media import admin, admin_search
from vernier.media.models import Media, Rendition, Version

pytestmark = pytest.mark.django_db

STATUSES = ("ready", "ready", "ready", "ready", "ready", "ready", "ready", "ready", "failed", "pending")
FEW = ("pending", "failed")
LISTS = ("media", "version", "rendition")


@pytest.fixture
def operator(client):
    client.force_login(get_user_model().objects.create_superuser("operator", password="secret"))
    return client


def fill(owner, number, *, statuses=STATUSES):
    """Make so many Media with a Version each, and a rendition where that is Ready; the file is no matter here."""
    now = timezone.now()
    media = Media.objects.bulk_create(
        Media(owner=owner, newest_number=1, created_at=now - timedelta(hours=2)) for _ in range(number)
    )
    common = {"sha256": "0" * 64, "byte_size": 1000, "image_type": "jpeg", "extension": "jpg", "rung_at": now}
    by_status = {
        "ready": {"ready_at": now, "width": 60, "height": 40, "has_alpha": False},
        "failed": {"failed_at": now, "failure_code": "time-limit"},
        "pending": {"attempts": 3},
    }
    versions = Version.objects.bulk_create(
        Version(
            media=row,
            number=1,
            status=(status := statuses[at % len(statuses)]),
            variants=[variant.to_json() for variant in SMALL_VARIANTS]
            if hasattr(SMALL_VARIANTS[0], "to_json")
            else [],
            accepted_at=now - timedelta(hours=2),
            **common,
            **by_status[status],
        )
        for at, row in enumerate(media)
    )
    ready = [version for version in versions if version.status == "ready"]
    Rendition.objects.bulk_create(
        Rendition(
            version=version,
            variant=variant,
            format="avif",
            width=side,
            height=side,
            byte_size=side,
            sha256="0" * 64,
            storage_key=version.key_for(variant, "avif"),
            created_at=now,
        )
        for version in ready
        for variant, side in (("photo", 2048), ("w480", 480))
    )
    serve_what_is_ready()
    # They are compared with what is in the database.
    for version in ready:
        version.media.current = version
    return versions


def multiply(times):
    """Make so many copies of every Media, with all that belongs to it; in SQL, which takes no time."""
    copy = "(printf('%08x', copy.number) || substr({}, 9))"
    values = {
        Media: {"id": copy.format("row.id"), "current_id": "NULL"},
        Version: {"media_id": copy.format("row.media_id")},
        Rendition: {
            "version_id": "(SELECT made.id FROM media_version AS made JOIN media_version AS old"
            f" ON old.id = row.version_id WHERE made.media_id = {copy.format('old.media_id')})",
            "storage_key": "(row.storage_key || copy.number)",
        },
    }
    with connection.cursor() as cursor:
        for model, own in values.items():
            columns = [field.column for field in model._meta.concrete_fields if field.column != "id" or "id" in own]
            numbers = f"SELECT 1 UNION ALL SELECT number + 1 FROM copy WHERE number < {times}"
            cursor.execute(
                f"WITH RECURSIVE copy(number) AS ({numbers})"
                f" INSERT INTO {model._meta.db_table} ({', '.join(columns)})"
                f" SELECT {', '.join(own.get(column, f'row.{column}') for column in columns)}"
                f" FROM {model._meta.db_table} AS row, copy"
            )
    serve_what_is_ready()


def serve_what_is_ready():
    newest = Version.objects.filter(media=OuterRef("pk"), status="ready")
    Media.objects.filter(current=None).update(current=Subquery(newest.values("pk")[:1]))


def page(name):
    return reverse(f"admin:media_{name}_changelist")


def rows(response):
    return response.context["cl"].result_list


@contextmanager
def steps():
    """Give a list whose length is the work of the database, in hundreds of steps of SQLite's machine."""
    connection.ensure_connection()
    counted = []
    connection.connection.set_progress_handler(lambda: counted.append(1) or 0, 100)
    try:
        yield counted
    finally:
        connection.connection.set_progress_handler(None, 0)


def test_admin__is_for_operators(client, author):
    assert client.get("/admin/").status_code == 302
    client.force_login(author)
    assert client.get(page("media")).status_code == 302


@pytest.mark.parametrize("name", LISTS)
def test_list__shows_rows_with_state_age_attempts_and_reason(operator, author, name):
    fill(author, 10)
    text = operator.get(page(name)).text
    assert "2\xa0hours" in text or name == "rendition"
    if name != "rendition":
        assert "This image takes longer to process than this site allows." in text
        assert '<td class="field-attempts">3</td>' in text
        assert "Pending" in text
        assert "Ready" in text


def test_list__thumbnail_is_the_smallest_rendition_of_what_is_ready(operator, author):
    (version,) = fill(author, 1, statuses=["ready"])
    fill(author, 3, statuses=["pending", "failed"])
    for name in ("media", "version"):
        images = re.findall(r'<img src="(/media/[^"]+)" width="80" height="80"', operator.get(page(name)).text)
        assert images == [f"/media/{version.media_id}/v1/w480.avif"]


def test_list__without_an_http_interface_has_no_thumbnails(operator, author, monkeypatch):
    monkeypatch.setattr(admin, "_RENDITION_URL", "nowhere:versioned")
    fill(author, 1, statuses=["ready"])
    response = operator.get(page("media"))
    assert response.status_code == 200
    assert "/v1/w480.avif" not in response.text


@pytest.mark.parametrize(("state", "number"), [("ready", 8), ("failed", 1), ("pending", 1), ("deleted", 0)])
def test_list__by_state(operator, author, state, number):
    fill(author, 10)
    assert len(rows(operator.get(page("media"), {"state": state}))) == number
    if state != "deleted":
        assert len(rows(operator.get(page("version"), {"state": state}))) == number


@pytest.mark.parametrize("name", LISTS)
def test_search__by_id_and_author(operator, author, name):
    versions = fill(author, 4, statuses=["ready"])
    fill(get_user_model().objects.create_user("bob"), 3, statuses=["ready"])
    each = 2 if name == "rendition" else 1
    media_id = str(versions[0].media_id)
    for term in (media_id, media_id.upper(), media_id.replace("-", ""), media_id[:13]):
        assert len(rows(operator.get(page(name), {"q": term}))) == each
    assert len(rows(operator.get(page(name), {"q": "alice"}))) == 4 * each
    assert len(rows(operator.get(page(name), {"q": "bo"}))) == 3 * each
    for term in ("nobody", "%", media_id[:7], "0" * 33, "' OR 1=1"):
        assert len(rows(operator.get(page(name), {"q": term}))) == 0


@pytest.mark.parametrize("name", LISTS)
def test_detail__shows_and_changes_nothing(operator, author, name):
    (version,) = fill(author, 1, statuses=["ready"])
    row = {"media": version.media, "version": version, "rendition": version.renditions.first()}[name]
    address = reverse(f"admin:media_{name}_change", args=[row.pk])
    response = operator.get(address)
    assert response.status_code == 200
    assert "_save" not in response.text
    assert operator.post(address, {"status": "failed"}).status_code == 403
    assert operator.get(reverse(f"admin:media_{name}_add")).status_code == 403
    assert operator.get(reverse(f"admin:media_{name}_delete", args=[row.pk])).status_code == 403
    operator.post(page(name), {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"})
    assert type(row).objects.filter(pk=row.pk).exists()


def test_detail__of_a_media_links_its_versions(operator, author):
    (version,) = fill(author, 1, statuses=["failed"])
    text = operator.get(reverse("admin:media_media_change", args=[version.media_id])).text
    assert f'<a href="{reverse("admin:media_version_change", args=[version.pk])}">1: Failed</a>' in text


def test_action__delete_leaves_the_tombstone(operator, author):
    kept, gone = fill(author, 2, statuses=["ready"])
    response = operator.post(page("media"), {"action": "delete", "_selected_action": gone.media_id}, follow=True)
    assert "Deleted: 1." in response.text
    assert list(Media.objects.live()) == [kept.media]
    assert Media.objects.get(pk=gone.media_id).deleted_at is not None
    assert not gone.renditions.exists()


def test_action__process_again_where_the_failure_may_pass(operator, author):
    again, over = fill(author, 2, statuses=["failed"])
    week = timezone.now() + timedelta(days=7)
    Version.objects.filter(pk=again.pk).update(staging_key="a/b", staging_delete_at=week, cleanup_at=week)
    chosen = {"action": "process_again", "_selected_action": [again.pk, over.pk]}
    response = operator.post(page("version"), chosen, follow=True)
    assert "Processed again: 1. Left as they are: 1;" in response.text
    again.refresh_from_db()
    over.refresh_from_db()
    assert (again.status, again.attempts, over.status) == ("pending", 0, "failed")


def test_action__process_again_is_not_kept_from_the_rest_by_what_cannot_be(operator, author, monkeypatch):
    monkeypatch.setattr(admin, "ACTED_MAX", 1)
    again, _over, _newer = fill(author, 3, statuses=["failed"])
    week = timezone.now() + timedelta(days=7)
    Version.objects.filter(pk=again.pk).update(staging_key="a/b", staging_delete_at=week, cleanup_at=week)
    everything = {"action": "process_again", "_selected_action": [again.pk], "select_across": "1"}
    response = operator.post(page("version"), everything, follow=True)
    assert "Processed again: 1. Left as they are: 2;" in response.text


def test_action__needs_its_permission(client, author):
    (version,) = fill(author, 1, statuses=["ready"])
    user = get_user_model().objects.create_user("looker", is_staff=True)
    user.user_permissions.add(
        *user.user_permissions.model.objects.filter(codename__in=["view_media", "view_version"])
    )
    client.force_login(user)
    assert client.get(page("media")).status_code == 200
    client.post(page("media"), {"action": "delete", "_selected_action": version.media_id})
    assert Media.objects.live().count() == 1


def test_action__takes_a_bounded_number(operator, author, monkeypatch):
    monkeypatch.setattr(admin, "ACTED_MAX", 2)
    fill(author, 3, statuses=["ready"])
    everything = {"action": "delete", "_selected_action": Media.objects.first().pk, "select_across": "1"}
    response = operator.post(page("media"), everything, follow=True)
    assert "Deleted: 2. One go takes 2; do the others next." in response.text
    assert Media.objects.live().count() == 1
    assert "Deleted: 1." in operator.post(page("media"), everything, follow=True).text
    assert not Media.objects.live().exists()


QUESTIONS = [
    *((name, {}) for name in LISTS),
    *((name, {"q": "00000000"}) for name in LISTS),
    *((name, {"q": name_begins}) for name in LISTS for name_begins in ("bob", "ali")),
    *(("media", {"state": state}) for state in ("ready", "pending", "failed")),
    *(("version", {"state": state}) for state in ("ready", "pending", "failed")),
    ("media", {"p": "90"}),
    ("version", {"p": "90"}),
]


def test_list__costs_the_same_with_a_large_archive(operator, author, monkeypatch):
    """What is counted up to the bound costs what the bound costs, so the bound is lower than the smaller archive."""
    monkeypatch.setattr(admin_search, "COUNTED_MAX", 400)
    rare = [version.media_id for version in fill_rare(author)]
    fill(author, 1000, statuses=["ready"])
    small = [measure(operator, *question) for question in QUESTIONS]
    multiply(20)
    drop(Media.objects.exclude(pk__in=rare).filter(Q(versions__status__in=FEW) | Q(owner__username="bob")))
    large = [measure(operator, *question) for question in QUESTIONS]
    for question, (queries, work), (queries_then, work_then) in zip(QUESTIONS, large, small, strict=True):
        assert queries == queries_then <= 8, question
        assert work <= 1.5 * work_then + 20, (question, work_then, work)


def fill_rare(author):
    """Make what is rare in any archive: another author's, what is in flight, what has failed."""
    bob = get_user_model().objects.create_user("bob")
    return fill(bob, 5, statuses=["ready"]) + fill(author, 20, statuses=FEW)


def drop(media):
    ids = list(media.values_list("pk", flat=True))
    Media.objects.filter(pk__in=ids).update(current=None)
    Rendition.objects.filter(version__media__in=ids).delete()
    Version.objects.filter(media__in=ids).delete()
    Media.objects.filter(pk__in=ids).delete()


def measure(operator, name, parameters):
    with CaptureQueriesContext(connection) as queries, steps() as work:
        response = operator.get(page(name), parameters)
    assert response.status_code in {200, 302}
    return len(queries), len(work)


@pytest.mark.parametrize("name", LISTS)
def test_list__plan_sorts_nothing(operator, author, name):
    fill(author, 50)
    with CaptureQueriesContext(connection) as queries:
        operator.get(page(name))
    lists = [query["sql"] for query in queries if f'FROM "media_{name}"' in query["sql"]]
    assert lists
    for sql in lists:
        with connection.cursor() as cursor:
            plan = [line for *_, line in cursor.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()]
        assert not [line for line in plan if "TEMP B-TREE" in line], plan


def test_admin_files__have_their_types_and_are_cached(client):
    response = client.get("/static/admin/css/base.css")
    assert (response.status_code, response["Content-Type"]) == (200, "text/css")
    assert set(response["Cache-Control"].split(", ")) == {"public", "max-age=3600"}
    assert response["X-Content-Type-Options"] == "nosniff"
    again = client.get("/static/admin/css/base.css", headers={"If-Modified-Since": response["Last-Modified"]})
    assert again.status_code == 304
    assert client.get("/static/admin/js/actions.js")["Content-Type"] in {"text/javascript", "application/javascript"}
    assert client.get("/static/admin/img/icon-yes.svg")["Content-Type"] == "image/svg+xml"


@pytest.mark.parametrize(
    "name", ["css/none.css", "../../__init__.py", "..%2f..%2f__init__.py", "css/", "css", "%2fetc/passwd"]
)
def test_admin_files__nothing_else(client, name):
    assert client.get(f"/static/admin/{name}").status_code == 404


def test_admin__every_file_that_its_pages_name_is_there(operator, author):
    fill(author, 2)
    for address in ("/admin/", page("media"), page("version"), "/admin/login/"):
        text = operator.get(address, follow=True).text
        files = re.findall(r'"(/static/[^"]+)"', text)
        assert files
        assert all(operator.get(file).status_code == 200 for file in files)
        assert not re.search(r"<script(?![^>]*src=)[^>]*>|<style|\sstyle=|\son\w+=", text), address
