"""The sweep removes what no row names when it was seen twice a full grace apart, and nothing else."""

from __future__ import annotations

import os
import threading
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.media.factory import NOW, author, image_bytes
from tests.media.render_in_process import open_renderer_in_process
from vernier.media import accept_upload, sweep
from vernier.media.brake import brakes
from vernier.media.clean_up import clean_up_media
from vernier.media.delete import delete_media
from vernier.media.listing import list_page
from vernier.media.models import Blob, Media, Rendition, Sighting, Version
from vernier.media.process import process
from vernier.media.storages import DatabaseStorage, DurableFileSystemStorage, renditions_storage, staging_storage
from vernier.media.sweep import SweepRound, find_orphans, remove_step, sweep_step, swept_aliases

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("staging_directory", "small_variants"),
]

STRAY = "images/00000000-0000-4000-8000-000000000000/v1/photo.avif"
GRACE = {"staging": 3600, "renditions": 24 * 3600}


def at(seconds):
    return NOW + timedelta(seconds=seconds)


def run(alias, now, **how):
    """Take the steps of one round to its end."""
    a_round = SweepRound(alias=alias, **how)
    while not a_round.is_over:
        a_round.step(now)
    return a_round


def upload(content=None, **how):
    accepted = accept_upload([content or image_bytes()], owner=author(), **how)
    return Version.objects.get(media_id=accepted.media_id, number=accepted.number)


def ready(content=None, **how):
    version = upload(content, **how)
    process(version.media_id, version.number, open_renderer=open_renderer_in_process, clock=lambda: NOW)
    version.refresh_from_db()
    assert version.status == "ready"
    return version


def stray(storage, key=STRAY):
    storage.save(key, ContentFile(b"stray"))
    return key


def files(storage, directory="images"):
    return set(list_page(storage, directory, limit=10_000).keys)


@pytest.mark.parametrize("name", ["f" * 32, f"{'f' * 32}.0123abcd.part", "stray.jpg"])
def test_u3__abandoned_uploads_are_swept_by_age(staging_directory, name):
    (staging_directory / name).write_bytes(b"half an upload")
    assert run("staging", NOW).removed == 0
    assert run("staging", at(GRACE["staging"] - 1)).removed == 0
    assert run("staging", at(GRACE["staging"])).removed == 1
    assert list(staging_directory.iterdir()) == []
    assert not Sighting.objects.exists()


def test_staging__what_a_row_names_stays(staging_directory):
    version = upload()
    for seconds in (0, 4000, 8000):
        assert run("staging", at(seconds)).orphans == 0
    assert [path.name for path in staging_directory.iterdir()] == [version.staging_key]


def test_staging__directories_and_hidden_files_are_not_ours(staging_directory):
    (staging_directory / "lost+found").mkdir(mode=0)
    (staging_directory / ".nfs0001").touch()
    assert run("staging", NOW).files == 0


def test_staging__name_that_is_no_text_keeps_nothing_else(staging_directory):
    """Nothing of ours has such a name, and no row can remember it."""
    odd = staging_directory / os.fsdecode(b"\xe9t\xe9.jpg")
    for path in (odd, staging_directory / "stray.jpg"):
        path.touch()
    run("staging", NOW)
    assert run("staging", at(GRACE["staging"])).removed == 1
    assert list(staging_directory.iterdir()) == [odd]


@pytest.mark.parametrize("renditions", ["directory"], indirect=True)
def test_renditions__name_that_is_no_text_keeps_nothing_else(renditions):
    stray(renditions)
    odd = Path(renditions.path(STRAY)).with_name(os.fsdecode(b"\xe9.avif"))
    odd.touch()
    run("renditions", NOW)
    assert run("renditions", at(GRACE["renditions"])).removed == 1
    assert odd.exists()


def test_renditions__stray_is_removed_after_a_full_grace(renditions):
    version = ready()
    stray(renditions)
    for seconds, removed in ((0, 0), (GRACE["renditions"] - 1, 0), (GRACE["renditions"], 1), (10**6, 0)):
        assert run("renditions", at(seconds)).removed == removed
    assert files(renditions) == set(version.renditions.values_list("storage_key", flat=True))


def test_renditions__late_file_and_part_of_a_settled_version_are_removed(renditions):
    version = ready()
    late = [version.key_for("photo.2", "avif"), f"{version.key_for('photo', 'avif')}.0123abcd.part"]
    for key in late:
        stray(renditions, key)
    run("renditions", NOW)
    assert run("renditions", at(GRACE["renditions"])).removed == 2
    assert not files(renditions) & set(late)


@pytest.mark.parametrize("status", ["pending", "processing"])
def test_renditions__nothing_of_an_unfinished_version_is_swept(renditions, status):
    version = upload()
    lease = {"lease_token": version.media_id, "lease_expires_at": NOW} if status == "processing" else {}
    Version.objects.update(status=status, **lease)
    key = stray(renditions, version.key_for("photo", "avif"))
    for seconds in (0, 10**6, 2 * 10**6):
        assert run("renditions", at(seconds)).orphans == 0
    assert renditions.exists(key)


@pytest.mark.parametrize("how", [{"status": "failed", "failure_code": "out-of-memory"}, {"status": "superseded"}])
def test_renditions__what_may_start_again_is_kept_while_its_original_is(renditions, how):
    version = upload()
    Version.objects.update(**how, failed_at=NOW)
    stray(renditions, version.key_for("photo", "avif"))
    run("renditions", NOW)
    assert run("renditions", at(10**6)).removed == 0
    Version.objects.update(staging_key="")
    run("renditions", at(10**6))
    assert run("renditions", at(2 * 10**6)).removed == 1


def test_renditions__clean_up_that_has_not_ended_is_not_anticipated(renditions, settings):
    """Caches are told first: the files of a deleted Media wait until that has worked."""
    version = ready()
    delete_media(version.media_id, owner=author(), now=NOW)
    for seconds in (0, 10**6, 2 * 10**6):
        assert run("renditions", at(seconds)).orphans == 0
    late = stray(renditions, version.key_for("late", "avif"))
    clean_up_media(version.media_id, now=at(2 * 10**6))
    renditions.save(late, ContentFile(b"a worker that woke up"))
    run("renditions", at(2 * 10**6))
    assert run("renditions", at(3 * 10**6)).removed == 1


def test_renditions__beside_a_ready_version_that_lacks_one_nothing_is_removed(renditions):
    version = ready()
    key = version.renditions.get(variant="photo").storage_key
    version.renditions.filter(variant="photo").delete()
    run("renditions", NOW)
    assert run("renditions", at(10**6)).removed == 0
    assert renditions.exists(key)


def test_renditions__other_apps_files_in_a_shared_store_are_not_ours(renditions):
    for key in ("avatars/alice.png", "images/cat.png", "plain.txt"):
        stray(renditions, key)
    run("renditions", NOW)
    assert run("renditions", at(10**6)).files == 0


def test_originals__kept_ones_are_named_by_their_version(settings):
    settings.VERNIER_MEDIA = {**settings.VERNIER_MEDIA, "KEEP_ORIGINALS": True}
    version = ready()
    run("renditions", NOW)
    assert run("renditions", at(10**6)).orphans == 0
    stray(renditions_storage(), version.key_for("original", "png"))
    assert run("renditions", at(10**6)).orphans == 1


def test_stores__that_share_their_files_are_swept_once(settings, tmp_path):
    assert swept_aliases() == ["staging", "renditions"]
    backend = {"BACKEND": "vernier.media.storages.DurableFileSystemStorage", "OPTIONS": {"location": str(tmp_path)}}
    settings.STORAGES = {**settings.STORAGES, "originals": backend}
    assert swept_aliases() == ["staging", "renditions", "originals"]


def test_sighting__is_forgotten_when_the_file_has_got_its_row(renditions):
    key = stray(renditions)
    run("renditions", NOW)
    version = ready()
    version.renditions.filter(variant="photo").update(storage_key=key)
    assert run("renditions", at(10**6)).removed == 0
    assert not Sighting.objects.filter(key=key).exists()


def test_sighting__removes_nothing_that_has_got_a_row_since(renditions, staging_directory):
    """A row may come between the look and the removal: it is asked for again, file by file."""
    version, waiting = ready(), upload(image_bytes(colour=(1, 2, 3)))
    named = {"renditions": version.renditions.get(variant="photo").storage_key, "staging": waiting.staging_key}
    for alias, key in named.items():
        Sighting.objects.create(store=alias, key=key, seen_at=NOW)
        assert remove_step(alias, "", at(10**6))[0].files == 0
    assert renditions.exists(named["renditions"])
    assert [path.name for path in staging_directory.iterdir()] == [waiting.staging_key]
    assert not Sighting.objects.exists()


def test_sighting__is_forgotten_when_the_file_is_gone(renditions):
    renditions.delete(stray(renditions))
    Sighting.objects.create(store="renditions", key=STRAY, seen_at=NOW)
    assert run("renditions", at(10**6)).removed == 0
    assert not Sighting.objects.exists()


def test_sighting__clock_that_went_back_does_not_shorten_the_grace(renditions):
    stray(renditions)
    run("renditions", at(10**6))
    run("renditions", NOW)
    assert Sighting.objects.get().seen_at == NOW
    assert run("renditions", at(GRACE["renditions"] - 1)).removed == 0
    assert run("renditions", at(GRACE["renditions"])).removed == 1


def test_idle__reads_only(renditions):
    ready()
    with CaptureQueriesContext(connection) as queries:
        for alias in swept_aliases():
            run(alias, NOW)
    assert [query["sql"] for query in queries if not query["sql"].startswith("SELECT")] == []


def test_dry__remembers_and_removes_nothing(renditions):
    key = stray(renditions)
    run("renditions", NOW, is_dry=True)
    assert not Sighting.objects.exists()
    run("renditions", NOW)
    assert run("renditions", at(10**6), is_dry=True).ripe == 1
    assert renditions.exists(key)


# The brake


@pytest.mark.parametrize(("count", "of", "too_many"), [(100, 100, False), (101, 101, True), (101, 1010, False)])
def test_brake__more_than_a_hundred_and_a_tenth(count, of, too_many):
    assert brakes(count, of=of) is too_many


def test_brake__removes_nothing_until_it_is_forced(renditions, caplog):
    keys = {stray(renditions, STRAY.replace("photo", f"photo{number}")) for number in range(101)}
    run("renditions", NOW)
    braked = run("renditions", at(10**6))
    assert (braked.is_braked, braked.removed, files(renditions)) == (True, 0, keys)
    assert "101 of 101 files in renditions have no row" in caplog.text
    assert run("renditions", at(10**6), is_forced=True).removed == 101
    assert files(renditions) == set()


def test_brake__what_ripens_during_a_round_waits_for_the_next(renditions):
    stray(renditions)
    run("renditions", NOW)
    a_round = SweepRound(alias="renditions")
    a_round.step(at(GRACE["renditions"] - 1))
    a_round.step(at(GRACE["renditions"] + 5))
    assert (a_round.is_over, a_round.removed) == (True, 0)


# Cases of other software


def test_s1__a_file_that_cannot_be_removed_keeps_no_other(renditions, monkeypatch):
    keys = sorted(stray(renditions, STRAY.replace("photo", name)) for name in "abc")
    run("renditions", NOW)
    delete = type(renditions).delete

    def failing(storage, key):
        if key == keys[0]:
            raise PermissionError(key)
        delete(storage, key)

    monkeypatch.setattr(type(renditions), "delete", failing)
    renditions_before_last = run("renditions", at(10**6))
    assert (renditions_before_last.removed, renditions_before_last.refused) == (2, 1)
    assert files(renditions) == {keys[0]}


def test_s2__a_path_that_is_spelled_differently_is_in_use(settings):
    """A foreign store lists directories with a slash at the end; one that ignores case spells ids in its own."""
    settings.STORAGES = {**settings.STORAGES, "renditions": {"BACKEND": f"{__name__}.SlashingStorage"}}
    version = ready()
    keys = set(version.renditions.values_list("storage_key", flat=True))
    seen = run("renditions", NOW)
    assert (seen.files, seen.orphans) == (3, 0)
    Version.objects.update(status="pending")
    upper = {key.replace(str(version.media_id), str(version.media_id).upper()) for key in keys}
    assert find_orphans("renditions", upper) == set()


class SlashingStorage(InMemoryStorage):
    exclusive_create = True

    def listdir(self, path):
        directories, names = super().listdir(path)
        return [f"{name}/" for name in directories], names


def test_s3__the_store_is_asked_and_never_a_local_disk(renditions, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    version = ready()
    run("renditions", NOW)
    run("renditions", at(10**6))
    assert version.renditions.count() == len(files(renditions)) == 3


def test_s4__a_row_alone_proves_no_file(renditions):
    """What the sweep counts comes from the listing."""
    version = ready()
    renditions.delete(version.renditions.get(variant="photo").storage_key)
    assert run("renditions", NOW).files == 2


def test_s5__a_thousand_jobs_make_no_second_file(renditions):
    version = ready()
    for _ in range(20):
        process(version.media_id, 1, open_renderer=open_renderer_in_process, clock=lambda: NOW)
    assert run("renditions", NOW).files == 3


def test_s6__steps_are_bounded_and_resume_where_one_ended(renditions, monkeypatch):
    monkeypatch.setattr(sweep, "LOOK_FILES", 4)
    monkeypatch.setattr(sweep, "REMOVE_FILES", 3)
    keys = {stray(renditions, f"images/{number:08d}-0000-4000-8000-000000000000/v1/a") for number in range(10)}
    cursor, seen, sizes = "", 0, []
    while not seen or cursor:
        with CaptureQueriesContext(connection) as queries:
            found, cursor = sweep_step("renditions", cursor, NOW)
        seen += found.files
        sizes.append((found.files, len(queries)))
    assert seen == 10
    assert max(files for files, _ in sizes) <= 4
    assert max(queries for _, queries in sizes) <= 9
    removed, cursor = remove_step("renditions", "", at(10**6))
    assert removed.files == 3
    assert len(files(renditions) & keys) == 7
    assert run("renditions", at(10**6)).removed == 7


def test_s7__requests_and_listings_do_not_sweep(client):
    version = ready()
    Blob.objects.filter(key=version.renditions.get(variant="w24").storage_key).delete()
    with CaptureQueriesContext(connection) as queries:
        client.get(f"/media/{version.media_id}")
    assert not [query for query in queries if "sighting" in query["sql"] or query["sql"].startswith("UPDATE")]


# Stores that are not there


def test_store__that_is_missing_is_an_error(settings, tmp_path):
    for alias in ("staging", "renditions"):
        settings.STORAGES = {
            **settings.STORAGES,
            alias: {
                "BACKEND": "vernier.media.storages.DurableFileSystemStorage",
                "OPTIONS": {"location": str(tmp_path / "unmounted")},
            },
        }
        Sighting.objects.create(store=alias, key=STRAY, seen_at=NOW)
        with pytest.raises(NotADirectoryError):
            sweep_step(alias, "", at(10**6))
        with pytest.raises(NotADirectoryError):
            remove_step(alias, "", at(10**6))
    assert Sighting.objects.count() == 2


def test_store__that_cannot_be_listed_is_an_error(renditions, monkeypatch):
    def failing(*args, **kwargs):
        raise OSError("I/O error")

    ready()
    with monkeypatch.context() as broken:
        broken.setattr(os, "scandir", failing)
        broken.setattr(DatabaseStorage, "keys", failing)
        with pytest.raises(OSError, match="I/O error"):
            run("renditions", NOW)


def test_listing__resumes_everywhere_and_in_one_order(tmp_path):
    storage = DurableFileSystemStorage(location=tmp_path)
    names = ["images/a/v1/x", "images/a/v1/y", "images/a/v10/x", "images/a.b", "images/a/v2/x", "images/b/v1/x"]
    for name in names:
        storage.save(name, ContentFile(b""))
    (tmp_path / "images" / "aa" / "emptied").mkdir(parents=True)
    whole = list_page(storage, "images", limit=100).keys
    assert Counter(whole) == Counter(names)
    for limit in range(1, 8):
        found, cursor, is_first = [], "", True
        while is_first or cursor:
            page, is_first = list_page(storage, "images", after=cursor, limit=limit), False
            found += page.keys
            cursor = page.cursor
        assert tuple(found) == whole


# Races


def test_race__version_that_comes_to_life_during_the_removal_keeps_its_file(renditions):
    """A restored database is older than its store: the next upload adopts a file that the sweep is removing."""
    version = ready()
    content = image_bytes(colour=(1, 2, 3))
    kept = ready(content, replaces=version.media_id)
    Media.objects.update(current=version, newest_number=1)
    Rendition.objects.filter(version=kept).delete()
    kept.delete()
    run("renditions", NOW)
    delete = type(renditions).delete

    def accept_meanwhile(storage, key):
        type(storage).delete = delete
        ready(content, replaces=version.media_id)
        delete(storage, key)

    type(renditions).delete = accept_meanwhile
    try:
        run("renditions", at(10**6))
    finally:
        type(renditions).delete = delete
    assert Rendition.objects.count() == 6
    assert set(Rendition.objects.values_list("storage_key", flat=True)) <= files(renditions)


def test_race__with_uploads_and_workers_nothing_that_is_named_is_lost(settings, renditions):
    """The harshest sweep there can be: what was seen once is removed at once, over and over."""
    settings.VERNIER_MEDIA = {**settings.VERNIER_MEDIA, "SWEEP_GRACE_SECONDS": 0.000001}
    is_over, errors = threading.Event(), []

    def sweep_for_ever():
        seconds = 0
        try:
            while not is_over.wait(0.01):
                seconds += 1
                run("renditions", at(seconds), is_forced=True)
                run("staging", NOW, is_forced=True)
        except Exception as error:  # noqa: BLE001 - told by the test
            errors.append(error)
        finally:
            connection.close()

    sweeping = threading.Thread(target=sweep_for_ever)
    sweeping.start()
    versions = [ready(image_bytes(colour=(number, 0, 0))) for number in range(12)]
    for number in range(6):
        versions.append(ready(image_bytes(colour=(0, number + 1, 0)), replaces=versions[number].media_id))
    is_over.set()
    sweeping.join()
    assert errors == []
    assert set(Rendition.objects.values_list("storage_key", flat=True)) == files(renditions)
    assert Rendition.objects.count() == 3 * len(versions)
    assert list(staging_storage().listdir("")[1]) == []


def test_race__two_sweeps_remove_each_file_once(renditions):
    for number in range(20):
        stray(renditions, STRAY.replace("photo", f"photo{number}"))
    run("renditions", NOW)
    rounds = [SweepRound(alias="renditions") for _ in range(2)]

    def work(a_round):
        while not a_round.is_over:
            a_round.step(at(10**6))
        connection.close()

    threads = [threading.Thread(target=work, args=(a_round,)) for a_round in rounds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert files(renditions) == set()
    assert sum(a_round.refused for a_round in rounds) == 0


def test_query__no_archive_is_scanned():
    for number in range(3):
        ready(image_bytes(colour=(number, 0, 0)))
    upload(image_bytes(colour=(9, 9, 9)))
    stray(renditions_storage())
    run("renditions", NOW)
    asked = []

    def keep(execute, sql, params, many, context):
        asked.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(keep):
        for alias in ("staging", "renditions"):
            run(alias, at(10**6))
    for sql, params in asked:
        if not sql.startswith(("SELECT", "DELETE", "UPDATE")):
            continue
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
            plan = [row[3] for row in cursor.fetchall()]
        assert not [line for line in plan if line.startswith("SCAN media_")], (sql, plan)
