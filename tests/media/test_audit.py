"""The audit finds what rows and store do not agree on; the repair puts the same bytes back, or says what is lost."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from datetime import timedelta
from unittest import mock

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.media.factory import NOW, author, image_bytes
from tests.media.render_in_process import open_renderer_in_process
from vernier.media import accept_upload, audit, originals, pace
from vernier.media import repair as repairing
from vernier.media.accept import Upload
from vernier.media.audit import AuditRound, Kind, audit_step
from vernier.media.clean_up import clean_up_version
from vernier.media.current import repair_current
from vernier.media.delete import delete_media
from vernier.media.exceptions import HandedBack, PermanentError, TransientError
from vernier.media.failures import FailureCode
from vernier.media.models import Blob, Media, Rendition, Sighting, Version
from vernier.media.originals import find_missing_staged, originals_step
from vernier.media.pace import AuditTicks, OriginalsTicks, SweepTicks
from vernier.media.process import process
from vernier.media.render import open_renderer
from vernier.media.repair import Outcome, find_damages, repair_version
from vernier.media.storages import originals_storage, read, renditions_storage
from vernier.media.variants import Variant

STRAY = "images/00000000-0000-4000-8000-000000000000/v1/photo.avif"
# It passes for an image until it is decoded.
CORRUPT = b"\x89PNG\r\n\x1a\n" + b"\0" * 200

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("staging_directory", "small_variants"),
]


@pytest.fixture
def keeping(settings):
    """Keep the originals."""
    settings.VERNIER_MEDIA = {**settings.VERNIER_MEDIA, "KEEP_ORIGINALS": True}


class Clock:
    seconds = 0.0

    def __call__(self):
        return self.seconds


def ready(content=None, **how):
    accepted = accept_upload([content or image_bytes()], owner=author(), **how)
    version = Version.objects.get(media_id=accepted.media_id, number=accepted.number)
    return run(version)


def run(version):
    process(version.media_id, version.number, open_renderer=open_renderer_in_process, clock=lambda: NOW)
    version.refresh_from_db()
    assert version.status == "ready"
    return version


def row(version, variant="photo"):
    return version.renditions.get(variant=variant)


def spoil(storage, key):
    """Flip a bit of the file in the middle; its size stays."""
    data = bytearray(read(storage, key))
    data[len(data) // 2] ^= 1
    storage.delete(key)
    storage.save(key, ContentFile(bytes(data)))


def spoil_all(storage, key):
    storage.delete(key)
    storage.save(key, ContentFile(b"no image at all"))


def find(*, with_checksum=True):
    found, cursor = audit_step(0, with_checksum=with_checksum)
    assert cursor == 0
    return [(damage.variant, damage.kind) for damage in found.damages]


def repair(version, **how):
    outcomes = repair_version(version.pk, NOW, **{"open_renderer": open_renderer_in_process, **how})
    return {damage.variant: outcome for damage, outcome in outcomes.items()}


def is_whole(version):
    """Whether every file is there with the recorded checksum; asked without the code under test."""
    rows = list(version.renditions.all())
    return {rendition.variant for rendition in rows} == {variant.name for variant in version.required} and all(
        hashlib.sha256(read(renditions_storage(), rendition.storage_key)).hexdigest() == rendition.sha256
        for rendition in rows
    )


def rendering(change):
    """A renderer whose `render` is changed."""

    @contextmanager
    def open_renderer(*args, **kwargs):
        with open_renderer_in_process(*args, **kwargs) as renderer:
            original = renderer.render
            renderer.render = lambda variant: change(original, variant)
            yield renderer

    return open_renderer


def worse(render, variant):
    """What another release of an encoder makes of it."""
    return render(Variant(**{**variant.to_json(), "quality": 5}))


def failing(error):
    return rendering(mock.Mock(side_effect=error))


# Audit


def test_audit__finds_nothing_where_nothing_is_wrong(renditions):
    ready()
    found, _ = audit_step(0, with_checksum=True)
    assert (found.renditions, found.damages) == (3, ())


def test_audit__finds_what_is_missing(renditions):
    renditions.delete(row(ready()).storage_key)
    assert find(with_checksum=False) == [("photo", Kind.MISSING)]


def test_audit__finds_a_wrong_size_without_reading(renditions):
    key = row(ready()).storage_key
    renditions.delete(key)
    renditions.save(key, ContentFile(b"cut off"))
    assert find(with_checksum=False) == [("photo", Kind.CORRUPT)]


def test_audit__finds_a_flipped_bit_by_its_checksum(renditions):
    spoil(renditions, row(ready()).storage_key)
    assert find(with_checksum=False) == []
    assert find() == [("photo", Kind.CORRUPT)]


def test_audit__finds_a_row_that_is_gone(renditions):
    row(ready(), "fallback").delete()
    assert find() == [("fallback", Kind.NO_ROW)]


def test_audit__looks_at_a_superseded_version_until_it_is_cleaned_up(renditions):
    old = ready()
    ready(image_bytes(colour=(1, 2, 3)), replaces=old.media_id)
    renditions.delete(row(old).storage_key)
    assert find() == [("photo", Kind.MISSING)]
    clean_up_version(old.media_id, 1, now=NOW + timedelta(days=2))
    assert find() == []


def test_audit__leaves_out_what_is_not_served(renditions):
    version = ready()
    Media.objects.update(current=None)
    for status in ("pending", "failed"):
        Version.objects.update(status=status, ready_at=None, failure_code="out-of-memory", failed_at=NOW)
        renditions.delete(row(version).storage_key)
        assert find() == []
    Version.objects.update(status="ready", ready_at=NOW)
    delete_media(version.media_id, owner=author(), now=NOW)
    assert find() == []


def test_audit__goes_step_by_step_with_bounded_queries(monkeypatch):
    monkeypatch.setattr(audit, "STEP_VERSIONS", 2)
    for number in range(5):
        ready(image_bytes(colour=(number, 0, 0)))
    cursor, steps = 0, []
    while not steps or cursor:
        with CaptureQueriesContext(connection) as queries:
            found, cursor = audit_step(cursor, with_checksum=False)
        steps.append((found.versions, found.renditions))
        assert len(queries) <= 2 + 2 * found.renditions
    assert steps == [(2, 6), (2, 6), (1, 3)]


def test_audit__scans_no_archive_and_writes_nothing():
    ready()
    asked = []

    def keep(execute, sql, params, many, context):
        asked.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(keep):
        audit_step(0, with_checksum=True)
        find_missing_staged()
        originals_step(0, with_checksum=True)
    for sql, params in asked:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
            plan = [line[3] for line in cursor.fetchall()]
        assert sql.startswith("SELECT")
        assert not [line for line in plan if line.startswith("SCAN") and "USING INDEX" not in line], (sql, plan)


def test_audit__store_that_is_missing_is_an_error(settings, tmp_path):
    ready()
    location = tmp_path / "unmounted"
    settings.STORAGES = {
        **settings.STORAGES,
        "renditions": {
            "BACKEND": "vernier.media.storages.DurableFileSystemStorage",
            "OPTIONS": {"location": str(location)},
        },
    }
    for _ in ("missing", "an empty mount point"):
        with pytest.raises(NotADirectoryError):
            audit_step(0, with_checksum=False)
        location.mkdir(exist_ok=True)
    assert not Rendition.objects.exclude(lost_at=None).exists()


def test_audit__file_that_cannot_be_read_is_not_given_up(renditions, monkeypatch):
    version = ready()
    monkeypatch.setattr(type(renditions), "size", mock.Mock(side_effect=OSError("I/O error")))
    assert set(find()) == {(name, Kind.UNREADABLE) for name in ("photo", "w24", "fallback")}
    assert set(repair(version).values()) == {Outcome.LEFT}
    assert not Rendition.objects.exclude(lost_at=None).exists()


def test_audit__finds_staged_originals_that_are_missing(staging_directory):
    accepted = accept_upload([image_bytes()], owner=author())
    assert find_missing_staged() == []
    for staged in staging_directory.iterdir():
        staged.unlink()
    assert [version.media_id for version in find_missing_staged()] == [accepted.media_id]


def find_originals(*, with_checksum=True):
    found, cursor = originals_step(0, with_checksum=with_checksum)
    assert cursor == 0
    return [(damage.name, damage.kind) for damage in found]


def test_originals__missing_is_found_for_as_long_as_it_is(keeping):
    version = ready()
    assert find_originals() == []
    content = ContentFile(read(originals_storage(), version.original_key))
    originals_storage().delete(version.original_key)
    for _ in range(2):
        assert find_originals(with_checksum=False) == [(f"{version.media_id} v1 original", Kind.MISSING)]
    originals_storage().save(version.original_key, content)
    assert find_originals() == []


def test_originals__flipped_bit_is_found_by_its_checksum(keeping):
    spoil(originals_storage(), ready().original_key)
    assert find_originals(with_checksum=False) == []
    assert [kind for _, kind in find_originals()] == [Kind.CORRUPT]


def test_originals__is_not_missed_when_it_is_removed_before_long(keeping):
    old = ready()
    new = ready(image_bytes(colour=(1, 2, 3)), replaces=old.media_id)
    originals_storage().delete(old.original_key)
    assert find_originals() == []
    originals_storage().delete(new.original_key)
    delete_media(old.media_id, owner=author(), now=NOW)
    assert find_originals() == []


@pytest.mark.parametrize("how", ["unmounted", "not configured"])
def test_originals__store_that_is_missing_is_an_error(keeping, settings, tmp_path, how):
    ready()
    backend = {
        "BACKEND": "vernier.media.storages.DurableFileSystemStorage",
        "OPTIONS": {"location": str(tmp_path / "unmounted")},
    }
    others = {alias: store for alias, store in settings.STORAGES.items() if alias != "originals"}
    settings.STORAGES = others | ({"originals": backend} if how == "unmounted" else {})
    with pytest.raises(OSError, match="store"):
        originals_step(0, with_checksum=False)


def test_originals__round_goes_step_by_step_and_tells_of_what_is_lost(keeping, monkeypatch, caplog):
    monkeypatch.setattr(originals, "STEP_VERSIONS", 1)
    for number in range(2):
        originals_storage().delete(ready(image_bytes(colour=(number, 0, 0))).original_key)
    clock = Clock()
    ticks = OriginalsTicks(clock=clock)
    for _ in range(3):
        assert "2 kept originals are missing" not in caplog.text
        ticks.tick()
    assert "2 kept originals are missing" in caplog.text
    assert all(f"{version} original" in caplog.text for version in Version.objects.all())
    with CaptureQueriesContext(connection) as queries:
        ticks.tick()
    assert len(queries) == 0


# The Version that is served


@pytest.fixture
def two():
    """A Media whose second Version is served."""
    old = ready()
    return old, ready(image_bytes(colour=(1, 2, 3)), replaces=old.media_id)


@pytest.mark.parametrize("wrong", ["nothing", "an older one", "one of another image"])
def test_current__is_the_version_that_is_ready(two, wrong):
    old, new = two
    named = {"nothing": None, "an older one": old, "one of another image": ready(image_bytes(9, 9))}[wrong]
    Media.objects.filter(pk=new.media_id).update(current=named)
    found, _ = audit_step(0, with_checksum=False)
    assert found.misled == (new.media_id,)
    assert repair_current(new.media_id)
    assert Media.objects.get(pk=new.media_id).current == new
    assert not repair_current(new.media_id)
    assert audit_step(0, with_checksum=False)[0].misled == ()


def test_current__is_none_where_none_is_ready(two):
    _, new = two
    Version.objects.filter(pk=new.pk).update(status="failed", failure_code="undecodable", failed_at=NOW)
    AuditTicks(clock=Clock()).tick(NOW)
    assert Media.objects.get().current is None


def test_current__of_a_deleted_image_stays_empty(two):
    delete_media(two[0].media_id, owner=author(), now=NOW)
    Version.objects.filter(pk=two[1].pk).update(status="ready")
    assert audit_step(0, with_checksum=False)[0].misled == ()
    assert not repair_current(two[0].media_id)


# Repair


def test_repair__missing_file_comes_back_under_its_key(renditions, keeping):
    version = ready()
    key = row(version).storage_key
    renditions.delete(key)
    assert repair(version) == {"photo": Outcome.REPAIRED}
    assert row(version).storage_key == key
    assert is_whole(version)


def test_repair__damaged_file_is_replaced_by_one_of_another_name(renditions, keeping):
    version = ready()
    old = row(version)
    spoil(renditions, old.storage_key)
    assert repair(version) == {"photo": Outcome.REPAIRED}
    new = row(version)
    assert (new.sha256, new.pk) == (old.sha256, old.pk)
    assert new.storage_key != old.storage_key
    assert not renditions.exists(old.storage_key)
    assert is_whole(version)


def test_repair__with_the_limited_child(renditions, keeping):
    """The production renderer gives the same bytes from the kept original."""
    accepted = accept_upload([image_bytes(200, 100)], owner=author())
    version = Version.objects.get(media_id=accepted.media_id)
    process(version.media_id, 1, clock=lambda: NOW)
    for rendition in version.renditions.all():
        renditions.delete(rendition.storage_key)
    assert set(repair(version, open_renderer=open_renderer).values()) == {Outcome.REPAIRED}
    version.refresh_from_db()
    assert is_whole(version)


def test_repair__lost_row_is_written_anew(renditions, keeping):
    version = ready()
    old = row(version)
    old.delete()
    assert repair(version) == {"photo": Outcome.REPAIRED}
    assert row(version).sha256 == old.sha256
    assert is_whole(version)


def test_repair__lost_row_without_an_original_adopts_the_file_that_is_left(renditions):
    version = ready()
    old = row(version)
    old.delete()
    assert repair(version) == {"photo": Outcome.REPAIRED}
    assert row(version).sha256 == old.sha256
    assert is_whole(version)


def test_repair__lost_row_is_not_given_a_file_that_is_something_else(renditions, caplog):
    version = ready()
    key = row(version).storage_key
    row(version).delete()
    renditions.delete(key)
    renditions.save(key, ContentFile(image_bytes()))
    assert repair(version) == {"photo": Outcome.LOST}
    assert not version.renditions.filter(variant="photo").exists()
    assert "rendition lost" in caplog.text


def test_repair__lost_row_is_not_given_a_file_that_does_not_decode(renditions):
    version = ready()
    old = row(version)
    old.delete()
    spoil_all(renditions, old.storage_key)
    assert repair(version) == {"photo": Outcome.LOST}
    assert not version.renditions.filter(variant="photo").exists()


def test_repair__lost_row_beside_a_file_of_other_bytes_becomes_a_new_version(renditions, keeping):
    """The file may be what was served until now, and an address never changes its bytes."""
    version = ready()
    row(version).delete()
    assert repair(version, open_renderer=rendering(worse)) == {"photo": Outcome.REPLACED}
    assert not version.renditions.filter(variant="photo").exists()
    assert is_whole(run(Version.objects.get(number=2)))


def test_repair__original_that_goes_in_the_middle_leaves_it_for_later(renditions, keeping, monkeypatch):
    version = ready()
    renditions.delete(row(version).storage_key)
    monkeypatch.setattr(repairing, "remake", mock.Mock(side_effect=OSError("disk full")))
    assert repair(version, open_renderer=rendering(worse)) == {"photo": Outcome.LEFT}


def test_repair__without_an_original_the_file_is_lost_and_told_once(renditions, caplog):
    version = ready()
    renditions.delete(row(version).storage_key)
    for _ in range(3):
        assert repair(version) == {"photo": Outcome.LOST}
    assert row(version).lost_at == NOW
    told = [record for record in caplog.records if record.levelname == "ERROR"]
    assert [record.getMessage() for record in told] == [
        f"rendition lost media={version.media_id} version=1 variant=photo (missing)"
    ]
    assert find() == [("photo", Kind.MISSING)]


@pytest.mark.parametrize("loss", ["missing", "spoilt"])
def test_repair__original_that_is_not_the_uploaded_one_is_not_used(renditions, keeping, loss):
    version = ready()
    if loss == "spoilt":
        spoil(originals_storage(), version.original_key)
    else:
        originals_storage().delete(version.original_key)
    renditions.delete(row(version).storage_key)
    assert repair(version) == {"photo": Outcome.LOST}


def test_repair__lost_file_that_is_back_is_served_again(renditions):
    version = ready()
    key, data = row(version).storage_key, read(renditions, row(version).storage_key)
    renditions.delete(key)
    repair(version)
    renditions.save(key, ContentFile(data))
    assert find(with_checksum=False) == [("photo", Kind.BACK)]
    assert repair(version) == {"photo": Outcome.REPAIRED}
    assert row(version).lost_at is None
    assert find() == []


def test_repair__other_bytes_become_a_new_version(renditions, keeping):
    version = ready()
    renditions.delete(row(version).storage_key)
    assert repair(version, open_renderer=rendering(worse)) == {"photo": Outcome.REPLACED}
    new = Version.objects.get(number=2)
    assert (new.sha256, new.media.owner, new.media.current_id) == (version.sha256, author(), version.pk)
    assert not renditions.exists(row(version).storage_key)
    # While it is on its way there is nothing more to do.
    assert repair(version, open_renderer=rendering(worse)) == {"photo": Outcome.REPLACED}
    assert Version.objects.count() == 2
    assert is_whole(run(new))


def test_repair__new_version_never_supersedes_a_newer_upload(renditions, keeping, monkeypatch):
    version = ready()
    renditions.delete(row(version).storage_key)
    accept = Upload.accept

    def upload_meanwhile(upload, **how):
        monkeypatch.setattr(Upload, "accept", accept)
        accept_upload([image_bytes(colour=(1, 2, 3))], owner=author(), replaces=version.media_id)
        return accept(upload, **how)

    monkeypatch.setattr(Upload, "accept", upload_meanwhile)
    assert repair(version, open_renderer=rendering(worse)) == {"photo": Outcome.LEFT}
    assert [one.status for one in Version.objects.order_by("number")] == ["ready", "pending"]


def test_repair__new_version_in_spite_of_a_newer_upload_that_has_failed(renditions, keeping):
    version = ready()
    accept_upload([CORRUPT], owner=author(), replaces=version.media_id)
    process(version.media_id, 2, open_renderer=open_renderer_in_process, clock=lambda: NOW)
    renditions.delete(row(version).storage_key)
    assert repair(version, open_renderer=rendering(worse)) == {"photo": Outcome.REPLACED}
    new = run(Version.objects.get(number=3))
    assert (new.sha256, Media.objects.get().current) == (version.sha256, new)
    assert is_whole(new)


def test_repair__superseded_version_is_never_made_the_newest(renditions, keeping):
    old = ready()
    ready(image_bytes(colour=(1, 2, 3)), replaces=old.media_id)
    renditions.delete(row(old).storage_key)
    old.refresh_from_db()
    assert repair(old, open_renderer=rendering(worse)) == {"photo": Outcome.REPLACED}
    assert row(old).lost_at == NOW
    assert Version.objects.count() == 2


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (TransientError(FailureCode.OUT_OF_MEMORY), Outcome.LEFT),
        (OSError("disk full"), Outcome.LEFT),
        (PermanentError(FailureCode.UNDECODABLE), Outcome.LOST),
    ],
)
def test_repair__failure(renditions, keeping, error, outcome):
    version = ready()
    renditions.delete(row(version).storage_key)
    assert repair(version, open_renderer=failing(error)) == {"photo": outcome}
    assert bool(row(version).lost_at) == (outcome is Outcome.LOST)


def test_repair__deleted_meanwhile_leaves_no_row(renditions, keeping):
    version = ready()
    spoil(renditions, row(version).storage_key)
    row(version, "w24").delete()

    def deleting(render, variant):
        rendered = render(variant)
        delete_media(version.media_id, owner=author(), now=NOW)
        return rendered

    assert set(repair(version, open_renderer=rendering(deleting)).values()) == {Outcome.LEFT}
    assert not Rendition.objects.exists()


def test_repair__names_no_file_that_a_sweep_has_seen(renditions, keeping, monkeypatch):
    monkeypatch.setattr("vernier.media.repair.secrets.token_hex", lambda _: "again")
    version = ready()
    key = row(version).storage_key
    spoil(renditions, key)
    Sighting.objects.create(store="renditions", key=version.key_for("photo.again", "avif"), seen_at=NOW)
    assert repair(version) == {"photo": Outcome.LEFT}
    assert row(version).storage_key == key


def test_repair__twice_at_once_is_once(renditions, keeping):
    version = ready()
    spoil(renditions, row(version).storage_key)

    def repair_inside(render, variant):
        if not Version.objects.filter(failure_detail="inner").exists():
            Version.objects.update(failure_detail="inner")
            assert repair(version) == {"photo": Outcome.REPAIRED}
        return render(variant)

    repair(version, open_renderer=rendering(repair_inside))
    assert is_whole(version)
    assert find_damages(version.pk) == []


# Rounds and the brake


def whole_round(**how):
    a_round = AuditRound(**how)
    while not a_round.is_over:
        a_round.step(with_checksum=True)
    return a_round


def test_round__stops_where_too_much_is_missing(monkeypatch, caplog):
    """The mount point of a disk that is not mounted: nothing is marked."""
    monkeypatch.setattr("vernier.media.brake.FILES_MAX", 5)
    versions = [ready(image_bytes(colour=(number, 0, 0))) for number in range(2)]
    Blob.objects.all().delete()
    stopped = whole_round()
    assert (stopped.is_braked, stopped.new, stopped.by_version()) == (True, 6, [])
    assert "6 of 6 renditions are wrong" in caplog.text
    forced = whole_round(is_forced=True)
    assert [version_id for version_id, _ in forced.by_version()] == [version.pk for version in versions]


def test_round__what_is_known_to_be_lost_is_not_weighed(monkeypatch):
    monkeypatch.setattr("vernier.media.brake.FILES_MAX", 2)
    version = ready()
    Blob.objects.all().delete()
    Rendition.objects.update(lost_at=NOW)
    known = whole_round()
    assert (known.is_braked, known.new, known.found[Kind.MISSING]) == (False, 0, 3)
    assert known.by_version()[0][0] == version.pk


def test_round__ends_after_so_many_renditions_and_goes_on_there(monkeypatch):
    monkeypatch.setattr(audit, "STEP_VERSIONS", 1)
    for number in range(3):
        ready(image_bytes(colour=(number, 0, 0)))
    first = whole_round(renditions_max=6)
    assert first.renditions == 6
    assert whole_round(cursor=first.cursor, renditions_max=6).renditions == 3


def test_round__keeps_a_bounded_list(monkeypatch):
    monkeypatch.setattr(audit, "DAMAGES_MAX", 2)
    ready()
    Blob.objects.all().delete()
    a_round = whole_round()
    assert (a_round.found[Kind.MISSING], len(a_round.damages)) == (3, 2)


# Beside a running server


def test_ticks__repair_one_version_at_a_time_and_then_pause(renditions, keeping, monkeypatch):
    monkeypatch.setattr(pace, "CHECKSUM_SHARE", 1)
    clock = Clock()
    ticks = AuditTicks(clock=clock)
    versions = [ready(image_bytes(colour=(number, 0, 0))) for number in range(2)]
    for version in versions:
        spoil(renditions, row(version).storage_key)
    whole = []
    for _ in range(3):
        ticks.tick(NOW)
        whole.append([is_whole(version) for version in versions])
    assert whole == [[False, False], [True, False], [True, True]]
    with CaptureQueriesContext(connection) as queries:
        ticks.tick(NOW)
    assert len(queries) == 0
    clock.seconds += pace.AUDIT_ROUND_SECONDS
    with CaptureQueriesContext(connection) as queries:
        ticks.tick(NOW)
        SweepTicks(clock=clock).tick(NOW)
    assert queries
    assert [query["sql"] for query in queries if not query["sql"].startswith("SELECT")] == []


def test_ticks__process_that_is_to_end_does_not_finish_the_repair(renditions, keeping):
    def stop():
        raise HandedBack

    version = ready()
    renditions.delete(row(version).storage_key)
    ticks = AuditTicks(on_tick=stop, clock=Clock())
    ticks.tick(NOW)
    ticks.tick(NOW)
    assert not is_there(renditions, version)


def is_there(storage, version):
    return storage.exists(row(version).storage_key)


@pytest.mark.parametrize("is_forced", [False, True])
def test_ticks__go_past_the_brake_where_that_is_wanted(renditions, keeping, monkeypatch, is_forced):
    monkeypatch.setattr("vernier.media.brake.FILES_MAX", 0)
    version = ready()
    renditions.delete(row(version).storage_key)
    renditions.save(STRAY, ContentFile(b"stray"))
    Sighting.objects.create(store="renditions", key=STRAY, seen_at=NOW - timedelta(days=2))
    sweep = SweepTicks(is_forced=is_forced, clock=Clock())
    ticks = AuditTicks(is_forced=is_forced, clock=Clock())
    for _ in range(6):
        sweep.tick(NOW)
        ticks.tick(NOW)
    assert (not renditions.exists(STRAY), is_there(renditions, version)) == (is_forced, is_forced)


def test_ticks__store_that_is_missing_stops_neither(settings, tmp_path, monkeypatch):
    clock = Clock()
    ticks = SweepTicks(clock=clock)
    settings.STORAGES = {
        **settings.STORAGES,
        "staging": {
            "BACKEND": "vernier.media.storages.DurableFileSystemStorage",
            "OPTIONS": {"location": str(tmp_path / "unmounted")},
        },
    }
    with pytest.raises(NotADirectoryError):
        ticks.tick(NOW)
    Blob.objects.create(key=STRAY, content=b"")
    ticks.tick(NOW)
    assert Sighting.objects.get().store == "renditions"
