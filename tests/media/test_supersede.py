"""How the Versions of one Media give way to each other, in whatever order their jobs come."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django_ox.models import OxTask

from tests.media.factory import author, image_bytes
from tests.media.worker import Clock, run_due, run_version, upload, version_of
from vernier.media.conf import media_settings
from vernier.media.exceptions import LeaseLost, MediaNotFound, UploadKeyReused
from vernier.media.finish import finish, process_again
from vernier.media.lease import claim
from vernier.media.models import Blob, Media, Rendition, Version
from vernier.media.reconcile import reconcile
from vernier.media.storages import staging_storage

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("staging_directory", "small_variants"),
]

RED, BLUE, GREEN = (image_bytes(colour=colour) for colour in [(250, 0, 0), (0, 0, 250), (0, 250, 0)])
DAY = 24 * 3600
CORRUPT = b"\x89PNG\r\n\x1a\n" + b"\0" * 500


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def served(clock):
    """A Media whose first Version, red, is served."""
    first = upload(RED, clock)
    run_due(clock)
    return first


def statuses(media_id):
    return list(Version.objects.filter(media_id=media_id).order_by("number").values_list("status", flat=True))


def serving(media_id):
    return Media.objects.get(pk=media_id).current.number


def staged():
    return len(staging_storage().listdir("")[1])


def test_replace__old_version_is_served_until_the_new_one_is_complete(served, clock):
    second = upload(BLUE, clock, replaces=served.media_id)
    assert (second.number, second.created) == (2, True)
    assert (statuses(served.media_id), serving(served.media_id)) == (["ready", "pending"], 1)
    run_due(clock)
    assert (statuses(served.media_id), serving(served.media_id)) == (["superseded", "ready"], 2)


def test_replace__own_bytes_change_nothing(served, clock):
    again = upload(RED, clock, replaces=served.media_id)
    assert (again.number, again.outcome) == (1, "unchanged")
    assert (statuses(served.media_id), staged(), OxTask.objects.count()) == (["ready"], 0, 0)


def test_replace__own_bytes_after_a_failure_are_a_new_version(clock):
    first = upload(CORRUPT, clock)
    run_due(clock)
    second = upload(CORRUPT, clock, replaces=first.media_id)
    assert (second.number, second.created) == (2, True)


def test_replace__older_bytes_again_are_a_new_version(served, clock):
    upload(BLUE, clock, replaces=served.media_id)
    assert upload(RED, clock, replaces=served.media_id).number == 3


@pytest.mark.parametrize("who", ["nobody's", "another author's", "a deleted"])
def test_replace__what_is_not_there_is_refused_and_leaves_nothing(served, clock, who):
    media_id = served.media_id
    if who == "nobody's":
        media_id = uuid4()
    elif who == "another author's":
        Media.objects.update(owner=author("bob"))
    else:
        Media.objects.update(current=None, deleted_at=clock.now)
    with pytest.raises(MediaNotFound):
        upload(BLUE, clock, replaces=media_id)
    assert (Version.objects.count(), staged()) == (1, 0)


def test_replace__two_at_once_end_in_the_newer(served, clock):
    second, third = (upload(content, clock, replaces=served.media_id) for content in (BLUE, GREEN))
    assert statuses(served.media_id) == ["ready", "superseded", "pending"]
    run_version(third, clock)
    assert run_version(second, clock).status == "superseded"
    assert (statuses(served.media_id), serving(served.media_id)) == (["superseded", "superseded", "ready"], 3)
    assert staged() == 0


def test_replace__old_job_that_finishes_late_changes_nothing(clock):
    first = upload(RED, clock)
    lease = claim(first.media_id, 1, conf=media_settings(), clock=clock)
    run_version(upload(BLUE, clock, replaces=first.media_id), clock)
    with pytest.raises(LeaseLost):
        lease.renew()
    with pytest.raises(LeaseLost):
        finish(lease)
    assert (statuses(first.media_id), serving(first.media_id)) == (["superseded", "ready"], 2)


def test_replace__failure_of_the_newer_gives_the_older_its_turn(clock):
    first = upload(RED, clock)
    second = upload(CORRUPT, clock, replaces=first.media_id)
    assert statuses(first.media_id) == ["superseded", "pending"]
    assert run_version(second, clock).status == "failed"
    assert statuses(first.media_id) == ["pending", "failed"]
    run_due(clock)
    assert (statuses(first.media_id), serving(first.media_id), staged()) == (["ready", "failed"], 1, 0)


def test_replace__failure_in_a_row_goes_back_to_the_last_good_one(clock):
    first = upload(RED, clock)
    for content in (CORRUPT, CORRUPT + b"x"):
        last = upload(content, clock, replaces=first.media_id)
    run_version(last, clock)
    assert statuses(first.media_id) == ["superseded", "pending", "failed"]
    run_due(clock)
    run_due(clock)
    assert (statuses(first.media_id), serving(first.media_id)) == (["ready", "failed", "failed"], 1)


def test_replace__failure_leaves_alone_what_a_newer_one_waits_for(clock):
    first = upload(RED, clock)
    second = upload(CORRUPT, clock, replaces=first.media_id)
    lease = claim(second.media_id, 2, conf=media_settings(), clock=clock)
    third = upload(GREEN, clock, replaces=first.media_id)
    run_version(second, clock)
    assert lease.version.number == 2
    assert statuses(first.media_id) == ["superseded", "superseded", "pending"]
    run_version(third, clock)
    assert serving(first.media_id) == 3


def test_replace__failure_does_not_bring_back_what_was_served_before(served, clock):
    run_version(upload(CORRUPT, clock, replaces=served.media_id), clock)
    assert (statuses(served.media_id), serving(served.media_id)) == (["ready", "failed"], 1)


def test_replace__key_makes_a_retry_safe(served, clock):
    second = upload(BLUE, clock, replaces=served.media_id, key="k")
    again = upload(BLUE, clock, replaces=served.media_id, key="k")
    assert (again.number, again.outcome, again.is_repeated) == (second.number, second.outcome, True)
    with pytest.raises(UploadKeyReused):
        upload(GREEN, clock, replaces=served.media_id, key="k")
    assert upload(RED, clock, key="k").media_id != served.media_id


def test_replace__own_bytes_bring_a_lost_original_back(clock):
    first = upload(RED, clock)
    staging_storage().delete(version_of(first).staging_key)
    again = upload(RED, clock, replaces=first.media_id)
    assert (again.number, again.outcome) == (2, "created")
    run_due(clock)
    assert (statuses(first.media_id), serving(first.media_id)) == (["superseded", "ready"], 2)


@pytest.mark.parametrize(("content", "outcome"), [(RED, "unchanged"), (BLUE, "created")])
def test_replace__retry_gets_the_answer_of_the_first_time(served, clock, content, outcome):
    answers = [upload(content, clock, replaces=served.media_id, key="k") for _ in range(3)]
    assert [(one.outcome, one.is_repeated) for one in answers] == [(outcome, at > 0) for at in range(3)]
    assert [one.created for one in answers] == [outcome == "created", False, False]


def test_r1__failed_replacement_leaves_the_old_image(served, clock):
    files = dict(Blob.objects.values_list("key", "content"))
    run_version(upload(CORRUPT, clock, replaces=served.media_id), clock)
    clock.tick(30 * DAY)
    run_due(clock)
    assert dict(Blob.objects.values_list("key", "content")) == files


def test_r4__keys_are_never_used_again(served, clock):
    old = set(Blob.objects.values_list("key", flat=True))
    run_version(upload(BLUE, clock, replaces=served.media_id), clock)
    run_version(upload(RED, clock, replaces=served.media_id), clock)
    new = Rendition.objects.filter(version__number=3)
    assert not old & set(new.values_list("storage_key", flat=True))


def test_r5__replacement_by_another_kind_leaves_no_odd_sizes(clock):
    first = upload(image_bytes(200, 100), clock)
    run_due(clock)
    second = upload(image_bytes(20, 20, kind="PNG", colour=(1, 2, 3, 100)), clock, replaces=first.media_id)
    run_due(clock)
    assert set(version_of(second).renditions.values_list("variant", "format")) == {
        ("photo", "avif"),
        ("fallback", "png"),
    }


def test_process_again__starts_a_failure_that_may_pass_anew(clock):
    first = upload(RED, clock)
    Version.objects.update(attempts=4)
    version = version_of(first)
    reconcile(clock.now)
    version.refresh_from_db()
    assert version.failure_code == "attempts-spent"
    assert process_again(version, now=clock.now)
    run_due(clock)
    assert serving(first.media_id) == 1


@pytest.mark.parametrize("why", ["permanent", "too late", "about to be cleaned up", "replaced", "ready"])
def test_process_again__only_where_it_may_help(clock, why):
    first = upload(CORRUPT if why == "permanent" else RED, clock)
    if why in {"permanent", "ready"}:
        run_due(clock)
    else:
        Version.objects.update(
            status="failed",
            failure_code="out-of-memory",
            failed_at=clock.now,
            staging_delete_at=clock.now,
            cleanup_at=clock.now,
        )
    if why == "about to be cleaned up":
        # A clock has gone back: what is so far ahead counts as due.
        Version.objects.update(
            staging_delete_at=clock.now + timedelta(days=7), cleanup_at=clock.now + timedelta(days=300)
        )
    if why == "replaced":
        upload(BLUE, clock, replaces=first.media_id)
    assert not process_again(version_of(first), now=clock.now)


def test_replace__own_bytes_bring_a_lost_rendition_back(served, clock):
    Rendition.objects.filter(variant="photo").update(lost_at=clock.now)
    second = upload(RED, clock, replaces=served.media_id)
    assert (second.number, second.created) == (2, True)
    run_due(clock)
    assert serving(served.media_id) == 2


def test_process_again__takes_the_turn_back_from_the_predecessor(clock, staging_directory):
    """The newer failed, the older got its turn, the newer is started again: what is served only goes forward."""
    first = upload(RED, clock)
    second = upload(BLUE, clock, replaces=first.media_id)
    moved = staging_directory.rename(staging_directory.with_name("elsewhere"))
    staging_directory.mkdir()
    run_version(second, clock)
    assert statuses(first.media_id) == ["pending", "failed"]
    staging_directory.rmdir()
    moved.rename(staging_directory)
    assert process_again(version_of(second), now=clock.now)
    assert statuses(first.media_id) == ["superseded", "pending"]
    run_version(second, clock)
    run_version(first, clock)
    assert (statuses(first.media_id), serving(first.media_id)) == (["superseded", "ready"], 2)
