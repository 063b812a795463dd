"""`vernier doctor` on a data directory that is damaged in every way that can be thought of."""

import argparse
import json
import shutil
import signal
import sqlite3
import subprocess
import time
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from tests.cli.site import COMMAND, Site, wait_for
from tests.media.factory import SMALL_VARIANTS, author, image_bytes
from tests.media.render_in_process import open_renderer_in_process
from vernier.cli.doctor import run
from vernier.media import accept_upload
from vernier.media.models import Rendition, Sighting
from vernier.media.process import process
from vernier.media.repair import Outcome, find_damages

CORPUS = Path(__file__).parent.parent / "corpus"
STRAY = "images/00000000-0000-4000-8000-000000000000/v1/photo.avif"

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("processes")]


@pytest.fixture(scope="session")
def published(template, tmp_path_factory):
    """A site with two served images, whose originals are kept, and one that waits."""
    site = Site(tmp_path_factory.mktemp("published") / "data")
    shutil.copytree(template, site.data)
    upload = ("media", "upload", "--author", "alice")
    site.run(*upload, str(CORPUS / "orient_1.jpg"), str(CORPUS / "orient_6.jpg"))
    assert site.run("worker", "--drain", KEEP_ORIGINALS="yes").returncode == 0
    assert site.run(*upload, str(CORPUS / "orient_8.jpg")).returncode == 0
    return site.data


@pytest.fixture
def damaged(new_site, published):
    shutil.copytree(published, new_site.data)
    return new_site


@contextmanager
def rows(site):
    with closing(sqlite3.connect(site.data / "vernier.db")) as database, database:
        database.execute("PRAGMA wal_autocheckpoint=0")
        yield database


def execute(site, sql, *values):
    with rows(site) as database:
        return database.execute(sql, values).fetchall()


def photo_key(site):
    return execute(site, "SELECT storage_key FROM media_rendition WHERE variant = 'photo' ORDER BY id")[0][0]


def doctor(site, *arguments, **settings):
    """Run it; return the exit code and, for each kind that was found, how many were found, repaired and left."""
    done = site.run("doctor", "--json", *arguments, **settings)
    report = json.loads(done.stdout)
    assert report["ok"] is (done.returncode == 0)
    assert set(report) == {"ok", "found", "repaired", "left", "left_names"}
    assert all(len(names) <= report["left"][kind] for kind, names in report["left_names"].items())
    counts = {
        kind: (count, report["repaired"][kind], report["left"][kind])
        for kind, count in report["found"].items()
        if count
    }
    return done.returncode, counts


def age_sightings(site):
    execute(site, "UPDATE media_sighting SET seen_at = '2020-01-01 00:00:00'")


def test_doctor__finds_nothing_on_a_sound_site(damaged):
    assert doctor(damaged) == (0, {})
    done = damaged.run("doctor")
    assert done.stdout == "All is well.\n"
    assert f"SQLite {sqlite3.sqlite_version} is linked." in done.stderr


def test_damage__deleted_blob(damaged):
    key = photo_key(damaged)
    execute(damaged, "DELETE FROM media_blob WHERE key = ?", key)
    assert doctor(damaged, "--dry-run") == (1, {"missing_files": (1, 0, 1)})
    assert doctor(damaged) == (0, {"missing_files": (1, 1, 0)})
    assert execute(damaged, "SELECT count(*) FROM media_blob WHERE key = ?", key) == [(1,)]


def test_damage__flipped_byte(damaged):
    with rows(damaged) as database:
        (content,) = database.execute("SELECT content FROM media_blob WHERE key = ?", [photo_key(damaged)]).fetchone()
        flipped = content[:300] + bytes([content[300] ^ 1]) + content[301:]
        database.execute("UPDATE media_blob SET content = ? WHERE key = ?", [flipped, photo_key(damaged)])
    assert doctor(damaged) == (0, {"corrupt_files": (1, 1, 0)})
    assert doctor(damaged) == (0, {})


def test_damage__blob_without_an_original_needs_a_person(damaged):
    execute(damaged, "DELETE FROM media_blob WHERE key = ?", photo_key(damaged))
    execute(damaged, "UPDATE media_version SET original_key = ''")
    execute(damaged, "DELETE FROM media_blob WHERE key LIKE '%/original.%'")
    for _ in range(2):
        assert doctor(damaged) == (1, {"missing_files": (1, 0, 1)})
    assert execute(damaged, "SELECT count(*) FROM media_rendition WHERE lost_at IS NOT NULL") == [(1,)]


def test_damage__deleted_staged_file(damaged):
    for staged in (damaged.data / "staging").iterdir():
        staged.unlink()
    assert doctor(damaged) == (1, {"missing_originals": (1, 0, 1)})


def test_damage__kept_original(damaged):
    keys = [key for (key,) in execute(damaged, "SELECT original_key FROM media_version WHERE original_key <> ''")]
    execute(damaged, "DELETE FROM media_blob WHERE key = ?", keys[0])
    execute(damaged, "UPDATE media_blob SET content = x'00' WHERE key = ?", keys[1])
    for _ in range(2):
        assert doctor(damaged) == (1, {"missing_originals": (1, 0, 1), "corrupt_originals": (1, 0, 1)})
    assert execute(damaged, "SELECT count(*) FROM media_version WHERE original_key <> ''") == [(2,)]


def test_damage__newest_version_without_its_row(damaged):
    """A torn copy of a database has it, and a backup of that points to the doctor."""
    execute(damaged, "UPDATE media_media SET newest_number = 9")
    execute(damaged, "UPDATE media_media SET deleted_at = '2026-01-01', current_id = NULL WHERE current_id IS NULL")
    for _ in range(2):
        assert doctor(damaged) == (1, {"database_errors": (2, 0, 2)})
    ((media_id,), *_) = execute(damaged, "SELECT id FROM media_media WHERE deleted_at IS NULL")
    assert f"The image {UUID(media_id)} has no row of its newest Version 9." in damaged.run("doctor").stderr


def test_damage__wrong_current(damaged):
    execute(damaged, "UPDATE media_media SET current_id = NULL")
    assert doctor(damaged, "--dry-run") == (1, {"wrong_current": (2, 0, 2)})
    assert doctor(damaged) == (0, {"wrong_current": (2, 2, 0)})
    assert execute(damaged, "SELECT count(*) FROM media_media WHERE current_id IS NOT NULL") == [(2,)]


def test_doctor__names_what_is_left(damaged):
    execute(damaged, "UPDATE media_version SET original_key = ''")
    execute(damaged, "DELETE FROM media_blob")
    for number in range(30):
        execute(damaged, "INSERT INTO media_blob VALUES (?, x'00', '2026-01-01')", f"{STRAY}.{number}")
    left = json.loads(damaged.run("doctor", "--json").stdout)["left_names"]
    ((media_id,), *_) = execute(damaged, "SELECT id FROM media_media ORDER BY created_at")
    assert f"{UUID(media_id)} v1 photo" in left["missing_files"]
    assert (len(left["orphan_files"]), left["orphan_files"][0]) == (20, f"{STRAY}.0")
    told = damaged.run("doctor").stdout
    assert f"  left: {UUID(media_id)} v1 photo\n" in told
    assert f"Orphan files: 30 found, 0 repaired\n  left: {STRAY}.0\n" in told
    assert "  and 10 more\n" in told


def test_damage__stray_files(damaged):
    staging = damaged.data / "staging"
    for name in ("f" * 32, f"{'e' * 32}.0123abcd.part", "stray"):
        (staging / name).write_bytes(b"stray")
    execute(damaged, "INSERT INTO media_blob VALUES (?, x'00', '2026-01-01')", STRAY)
    # They wait for their grace: that is not wrong.
    assert doctor(damaged) == (0, {"orphan_files": (4, 0, 4)})
    assert "4 orphan files wait for their grace" in damaged.run("doctor").stdout
    age_sightings(damaged)
    assert doctor(damaged) == (0, {"orphan_files": (4, 4, 0)})
    assert len(list(staging.iterdir())) == 1


def test_damage__dropped_jobs(damaged):
    execute(damaged, "DELETE FROM django_ox_oxtask")
    assert doctor(damaged) == (0, {"lost_jobs": (1, 1, 0)})
    assert damaged.run("worker", "--drain").returncode == 0
    assert execute(damaged, "SELECT DISTINCT status FROM media_version") == [("ready",)]


@pytest.mark.parametrize(
    ("ends", "token"),
    [(timedelta(hours=-1), "0" * 32), (timedelta(days=365), "0" * 32), (timedelta(hours=-1), "forged")],
)
def test_damage__forged_lease(damaged, ends, token):
    execute(damaged, "DELETE FROM django_ox_oxtask")
    execute(
        damaged,
        "UPDATE media_version SET status = 'processing', attempts = 1, lease_token = ?, lease_expires_at = ? "
        "WHERE status = 'pending'",
        token,
        (datetime.now(UTC) + ends).strftime("%Y-%m-%d %H:%M:%S.%f"),
    )
    assert doctor(damaged) == (0, {"lost_jobs": (1, 1, 0), "stale_leases": (1, 1, 0)})
    assert damaged.run("worker", "--drain").returncode == 0
    assert execute(damaged, "SELECT DISTINCT status FROM media_version") == [("ready",)]


@pytest.mark.parametrize(
    ("column", "value"),
    [("rung_at", "2026-13-45 99:99:99"), ("accepted_at", "garbage"), ("variants", '[{"name": "x"}]')],
)
def test_damage__value_that_cannot_be_read_is_reported_and_keeps_no_other_stage(damaged, column, value):
    (damaged.data / "staging" / "stray").touch()
    doctor(damaged)
    age_sightings(damaged)
    execute(damaged, f"UPDATE media_version SET {column} = ?", value)
    code, found = doctor(damaged)
    assert (code, found["orphan_files"]) == (1, (1, 1, 0))
    assert found["database_errors"][2] >= 1
    told = damaged.run("doctor").stderr
    assert "Traceback" not in told
    assert f"of media_version has {value!r} in {column}" in told or column == "variants"


def test_damage__clock_that_went_back(damaged):
    (damaged.data / "staging" / ("f" * 32)).write_bytes(b"stray")
    doctor(damaged)
    execute(damaged, "UPDATE media_sighting SET seen_at = '2090-01-01 00:00:00'")
    execute(damaged, "UPDATE media_version SET next_attempt_at = '2090-01-01 00:00:00' WHERE status = 'pending'")
    execute(damaged, "DELETE FROM django_ox_oxtask")
    assert doctor(damaged) == (0, {"lost_jobs": (1, 1, 0), "orphan_files": (1, 0, 1)})
    ((seen_at,),) = execute(damaged, "SELECT seen_at FROM media_sighting")
    assert seen_at < "2090"


def test_damage__clean_ups_without_a_job(damaged):
    """Those whose job only waits for a worker need nobody; of a lost one the doctor enqueues another."""
    execute(damaged, "UPDATE media_media SET deleted_at = '2026-01-01', current_id = NULL, cleanup_at = '2026-01-01'")
    execute(damaged, "UPDATE media_media SET rung_at = '2026-01-01'")
    execute(damaged, "UPDATE media_version SET status = 'superseded', superseded_at = '2026-01-01'")
    execute(damaged, "DELETE FROM media_rendition")
    execute(damaged, "DELETE FROM django_ox_oxtask")
    assert doctor(damaged, "--dry-run") == (1, {"overdue_cleanups": (3, 0, 3)})
    assert doctor(damaged) == (0, {"overdue_cleanups": (3, 3, 0)})
    assert doctor(damaged) == (0, {})
    assert damaged.run("worker", "--drain").returncode == 0
    assert execute(damaged, "SELECT count(*) FROM media_media WHERE cleaned_at IS NULL") == [(0,)]
    assert doctor(damaged) == (0, {})


@pytest.mark.parametrize("how", ["the original is kept", "only the file is left"])
def test_damage__removed_rendition_row(damaged, how):
    if how == "only the file is left":
        execute(damaged, "UPDATE media_version SET original_key = ''")
        execute(damaged, "DELETE FROM media_blob WHERE key LIKE '%/original.%'")
    key = photo_key(damaged)
    before = execute(damaged, "SELECT sha256 FROM media_rendition WHERE storage_key = ?", key)
    execute(damaged, "DELETE FROM media_rendition WHERE storage_key = ?", key)
    assert doctor(damaged)[1] == {"missing_rows": (1, 1, 0)}
    after = execute(
        damaged, "SELECT sha256 FROM media_rendition WHERE storage_key LIKE ?", f"{Path(key).parent}/photo.%"
    )
    assert after == before
    # The file under the old name has no row any more: an orphan like any other.
    doctor(damaged)
    age_sightings(damaged)
    assert doctor(damaged) == (0, {"orphan_files": (1, 1, 0)})


def test_damage__spent_attempts(damaged):
    execute(damaged, "UPDATE media_version SET attempts = 8 WHERE status = 'pending'")
    assert doctor(damaged) == (0, {"spent_attempts": (1, 1, 0)})
    assert execute(damaged, "SELECT failure_code FROM media_version WHERE status = 'failed'") == [("attempts-spent",)]


def test_damage__killed_in_the_middle(damaged):
    """Wherever it is killed, the next run finds the rest."""
    execute(damaged, "DELETE FROM media_blob WHERE key NOT LIKE '%/original.%'")
    execute(damaged, "DELETE FROM django_ox_oxtask")
    for milliseconds in (600, 800):
        killed = subprocess.Popen([*COMMAND, "doctor"], env=damaged.environ(), stderr=subprocess.DEVNULL)
        time.sleep(milliseconds / 1000)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    assert doctor(damaged)[0] == 0
    assert doctor(damaged, "--dry-run") == (0, {})


def test_doctor__two_at_once(damaged):
    execute(damaged, "DELETE FROM media_blob WHERE key NOT LIKE '%/original.%'")
    started = [
        subprocess.Popen([*COMMAND, "doctor"], env=damaged.environ(), stderr=subprocess.PIPE) for _ in range(2)
    ]
    assert b"Traceback" not in b"".join(process.communicate()[1] for process in started)
    assert [process.returncode for process in started] == [0, 0]


def test_doctor__dry_run_writes_nothing(damaged):
    (damaged.data / "staging" / ("f" * 32)).write_bytes(b"stray")
    execute(damaged, "DELETE FROM media_blob WHERE key = ?", photo_key(damaged))
    execute(damaged, "DELETE FROM django_ox_oxtask")
    execute(damaged, "UPDATE media_version SET attempts = 8 WHERE status = 'pending'")

    def content():
        with rows(damaged) as database:
            return list(database.iterdump()), sorted(path.name for path in (damaged.data / "staging").iterdir())

    before = content()
    code, found = doctor(damaged, "--dry-run", "--force")
    assert (code, set(found)) == (1, {"missing_files", "spent_attempts", "orphan_files"})
    assert content() == before


def test_doctor__reports_a_damaged_database(damaged):
    with rows(damaged) as database:
        database.execute("PRAGMA foreign_keys=OFF")
        database.execute("DELETE FROM authors_author")
    code, found = doctor(damaged)
    assert code == 1
    assert found["database_errors"][2] > 0


def test_doctor__reports_a_file_that_cannot_be_read(damaged):
    database = damaged.data / "vernier.db"
    with rows(damaged) as opened:
        (page,) = opened.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'media_rendition'").fetchone()
        (page_bytes,) = opened.execute("PRAGMA page_size").fetchone()
    with database.open("r+b") as file:
        file.seek((page - 1) * page_bytes)
        file.write(b"\xff" * page_bytes)
    code, found = doctor(damaged)
    assert (code, found) == (1, {"database_errors": (1, 0, 1)})
    assert "restore FILE" in damaged.run("doctor").stderr


def test_server__sweeps_by_itself(damaged):
    (damaged.data / "staging" / "stray").write_bytes(b"stray")
    server = damaged.start()
    try:
        wait_for(lambda: execute(damaged, "SELECT key FROM media_sighting") == [("stray",)])
    finally:
        assert server.end() == 0


# Stores and settings that a site does not have by itself


def doctor_here(capsys, **flags):
    """Run it in this process; return as `doctor` does, with what was said on standard error."""
    capsys.readouterr()
    code = run(argparse.Namespace(**{"json": True, "dry_run": False, "force": False} | flags))
    said = capsys.readouterr()
    report = json.loads(said.out)
    return code, {kind: report["left"][kind] for kind, count in report["found"].items() if count}, said.err


@pytest.fixture
def served(settings, transactional_db, tmp_path):
    """An image whose renditions are in a directory."""
    location = tmp_path / "renditions"
    location.mkdir()
    backend = "vernier.media.storages.DurableFileSystemStorage"
    settings.STORAGES = {
        **settings.STORAGES,
        "renditions": {"BACKEND": backend, "OPTIONS": {"location": str(location)}},
    }
    settings.VERNIER_MEDIA = {"VARIANTS": SMALL_VARIANTS}
    process(accept_upload([image_bytes()], owner=author()).media_id, 1, open_renderer=open_renderer_in_process)
    return location


@pytest.mark.parametrize("how", ["gone", "an empty mount point"])
def test_damage__unmounted_store(served, capsys, how):
    served.rename(served.with_name("elsewhere"))
    if how == "an empty mount point":
        served.mkdir()
    code, left, said = doctor_here(capsys, force=True)
    assert (code, left["missing_stores"] >= 1) == (1, True)
    assert "renditions could not be examined" in said
    assert not Rendition.objects.exclude(lost_at=None).exists()
    shutil.rmtree(served, ignore_errors=True)
    served.with_name("elsewhere").rename(served)
    assert doctor_here(capsys)[:2] == (0, {})


def test_brake__asks_for_force(served, capsys):
    strays = [f"00000000-0000-4000-8000-{number:012d}" for number in range(101)]
    for media_id in strays:
        (served / "images" / media_id).mkdir()
        (served / "images" / media_id / "photo.avif").write_bytes(b"stray")
    assert doctor_here(capsys)[0] == 0
    Sighting.objects.update(seen_at=datetime(2020, 1, 1, tzinfo=UTC))
    code, left, said = doctor_here(capsys)
    assert (code, left) == (1, {"orphan_files": 101})
    assert "101 of 104 files in renditions have no row: more than 100 and than 10%" in said
    assert doctor_here(capsys, dry_run=True, force=True)[:2] == (1, {"orphan_files": 101})
    assert len(list(served.rglob("*.avif"))) == 102
    assert doctor_here(capsys, force=True)[:2] == (0, {"orphan_files": 0})
    assert len(list(served.rglob("*.avif"))) == 1


def test_brake__gives_no_rendition_up(served, capsys, monkeypatch):
    monkeypatch.setattr("vernier.media.brake.FILES_MAX", 2)
    for file in served.rglob("*.*"):
        file.unlink()
    code, left, said = doctor_here(capsys)
    assert (code, left) == (1, {"missing_files": 3})
    assert "3 of 3 renditions are wrong" in said
    assert not Rendition.objects.exclude(lost_at=None).exists()
    assert doctor_here(capsys, force=True)[:2] == (1, {"missing_files": 3})
    assert Rendition.objects.exclude(lost_at=None).count() == 3


def test_doctor__needs_nobody_for_what_another_repairs_meanwhile(served, capsys, monkeypatch):
    file = next(served.rglob("photo.avif"))
    content = file.read_bytes()
    file.unlink()

    def repair_beside(version_id, now):
        outcomes = dict.fromkeys(find_damages(version_id), Outcome.LEFT)
        file.write_bytes(content)
        return outcomes

    monkeypatch.setattr("vernier.cli.doctor.repair_version", repair_beside)
    assert doctor_here(capsys)[:2] == (0, {"missing_files": 0})


def test_damage__lost_file_that_comes_back(served, capsys):
    file = next(served.rglob("photo.avif"))
    content = file.read_bytes()
    file.unlink()
    assert doctor_here(capsys)[:2] == (1, {"missing_files": 1})
    file.write_bytes(content)
    assert doctor_here(capsys)[:2] == (0, {"returned_files": 0})
    assert doctor_here(capsys)[:2] == (0, {})
