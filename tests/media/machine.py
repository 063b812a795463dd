"""The pipeline as a state machine: no order of uploads, workers, crashes, clocks and deliveries breaks it.

Workers are simulated one step at a time, so that they interleave, sleep past their lease and die between any two
steps; rows, jobs, files and codecs are the real ones. A crash leaves everything as it is, like `kill -9`.
"""

from __future__ import annotations

import hashlib
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock
from uuid import UUID

from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import Model, Q
from django_ox.models import OxTask
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.media.factory import NOW, author, image_bytes
from tests.media.render_in_process import open_renderer_in_process
from tests.media.worker import run_job
from vernier.media import process as processing
from vernier.media.accept import Upload
from vernier.media.audit import AuditRound
from vernier.media.conf import media_settings
from vernier.media.delete import delete_media
from vernier.media.exceptions import LeaseLost, MediaNotFound, PermanentError, TransientError
from vernier.media.failures import FailureCode
from vernier.media.finish import process_again
from vernier.media.lease import Lease, claim
from vernier.media.models import Blob, Media, Rendition, Sighting, UploadKey, Version
from vernier.media.reconcile import reconcile
from vernier.media.storages import DatabaseStorage, local_path, staging_storage
from vernier.media.sweep import SweepRound, swept_aliases

if TYPE_CHECKING:
    from collections.abc import Iterator

WORKERS = 3
WHICH = st.integers(0, WORKERS - 1)
ORIGINALS = (
    image_bytes(48, 32),
    image_bytes(20, 40, kind="PNG", colour=(10, 200, 90, 128)),
    image_bytes(96, 20, kind="WEBP"),
)
# Enough rounds for every attempt that the settings allow, each after its lease and backoff.
ROUNDS_MAX = 60
# What may follow what, seen from outside: a healthy worker goes from pending to ready between two looks.
LEGAL = {
    "pending": {"pending", "processing", "ready", "failed", "superseded"},
    "processing": {"processing", "pending", "ready", "failed", "superseded"},
    "ready": {"ready", "superseded"},
    # Back to pending by "process again" only.
    "failed": {"failed", "pending"},
    # Back to pending only where the newer Version has failed; `served_never_goes_back` sees to the rest.
    "superseded": {"superseded", "pending"},
}
# Bytes that pass for an image until they are decoded.
CORRUPT = b"\x89PNG\r\n\x1a\n" + b"\0" * 200


# Each after those that its rows name.
MODELS: tuple[type[Model], ...] = (Media, Version, Rendition, UploadKey, Blob, Sighting, OxTask)


class Crash(BaseException):
    """The process is gone."""


@dataclass(eq=False)
class Worker:
    lease: Lease
    renderer: Any = None
    resources: ExitStack = field(default_factory=ExitStack)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """All rows at one moment, and what was known of them."""

    rows: dict[type[Model], list[dict[str, Any]]]
    known: dict[str, Any]


class Pipeline(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        _empty_database()
        self.now = NOW
        self.owner = author()
        self.acknowledged: dict[tuple[UUID, int], bytes] = {}
        self.keys: dict[str, tuple[UUID, bytes, datetime]] = {}
        self.workers: list[Worker] = []
        self.statuses: dict[tuple[UUID, int], str] = {}
        self.claims: dict[tuple[UUID, int], int] = {}
        self.served: dict[UUID, int] = {}
        self.deleted: set[UUID] = set()
        self.backup: Backup | None = None
        self.is_restored = False
        # What an older database waits for, and whose original was gone when that was put back.
        self.without_original: set[tuple[UUID, int]] = set()

    def __call__(self) -> datetime:
        """Be the clock of everything that takes one."""
        return self.now

    # Uploads

    @initialize()
    def first_upload(self) -> None:
        self.accept(ORIGINALS[0], None)

    @rule(original=st.sampled_from(ORIGINALS), key=st.sampled_from([None, "a", "b"]))
    def accept(self, original: bytes, key: str | None) -> None:
        if key in self.keys and self._is_forgotten(key):
            del self.keys[key]
        if key in self.keys and self.keys[key][1] != original:
            return
        with Upload() as upload:
            upload.write(original)
            accepted = upload.accept(owner=self.owner, idempotency_key=key, now=self.now)
        if key is not None and key in self.keys:
            assert (accepted.media_id, accepted.created) == (self.keys[key][0], False)
            return
        assert accepted.created
        self.acknowledged[accepted.media_id, accepted.number] = original
        if key is not None:
            self.keys[key] = (accepted.media_id, original, self.now)

    @rule(original=st.sampled_from((*ORIGINALS, CORRUPT)), choice=st.integers(0, 20))
    def replace(self, original: bytes, choice: int) -> None:
        media_id = self._some_media(choice)
        before = Version.objects.filter(media_id=media_id).order_by("-number").first()
        with Upload() as upload:
            upload.write(original)
            try:
                accepted = upload.accept(owner=self.owner, replaces=media_id, now=self.now)
            except MediaNotFound:
                assert media_id in self.deleted
                return
        assert media_id not in self.deleted
        is_whole = before.status == "ready" or staging_storage().exists(before.staging_key)
        is_same = is_whole and before.sha256 == hashlib.sha256(original).hexdigest() and before.status != "failed"
        assert accepted.created == (not is_same)
        assert accepted.number == before.number + (not is_same)
        if accepted.created:
            self.acknowledged[accepted.media_id, accepted.number] = original

    @rule(choice=st.integers(0, 20))
    def delete(self, choice: int) -> None:
        media_id = self._some_media(choice)
        delete_media(media_id, owner=self.owner, now=self.now)
        self.deleted.add(media_id)

    def _some_media(self, choice: int) -> UUID:
        known = list(dict.fromkeys(media_id for media_id, _ in self.acknowledged))
        return known[choice % len(known)]

    @rule(original=st.sampled_from(ORIGINALS))
    def accept_and_lose_the_transaction(self, original: bytes) -> None:
        """The job cannot be enqueued: neither row nor file nor job is left."""
        before = _counts()
        with mock.patch("vernier.media.record.ring", side_effect=Crash), _expected(Crash), Upload() as upload:
            upload.write(original)
            upload.accept(owner=self.owner, now=self.now)
        assert _counts() == before

    # Workers

    @precondition(lambda self: len(self.workers) < WORKERS)
    @rule(choice=st.integers(0, 20), crash=st.booleans())
    def deliver(self, choice: int, crash: bool) -> None:
        """A worker takes a job off the queue: it claims a Version, or cleans up and perhaps dies in the middle."""
        jobs = list(OxTask.objects.filter(status="READY").order_by("enqueued_at", "pk"))
        due = [job for job in jobs if job.run_after is None or job.run_after <= self.now]
        if not due:
            return
        job = due[choice % len(due)]
        job.delete()
        if job.task_path.endswith("process_version"):
            self._claim(UUID(job.args[0]), job.args[1])
        else:
            with suppress(Crash), _crashing_at_deletion(crash):
                run_job(job, self)

    @precondition(lambda self: len(self.workers) < WORKERS)
    @rule(choice=st.integers(0, 20))
    def deliver_again(self, choice: int) -> None:
        """A job that was delivered before, or never was one, comes once more."""
        known = list(self.acknowledged)
        self._claim(*known[choice % len(known)])

    def _claim(self, media_id: UUID, number: int) -> None:
        before = Version.objects.filter(media_id=media_id, number=number).first()
        lease = claim(media_id, number, conf=media_settings(), clock=self)
        if lease is None:
            return
        assert before.status in {"pending", "processing"}
        assert lease.version.attempts == before.attempts + 1
        self.claims[media_id, number] = self.claims.get((media_id, number), 0) + 1
        self.workers.append(Worker(lease=lease))

    @rule(choice=st.integers(0, 20))
    def run_a_job_whole(self, choice: int) -> None:
        """A worker that nothing happens to, beside those that something happens to."""
        due = [job for job in OxTask.objects.order_by("enqueued_at", "pk") if (job.run_after or self.now) <= self.now]
        if not due:
            return
        job = due[choice % len(due)]
        job.delete()
        if job.task_path.endswith("process_version"):
            key = UUID(job.args[0]), job.args[1]
            before = Version.objects.filter(media_id=key[0], number=key[1]).values_list("attempts", "claimed_at")
            attempts = before.first()
            run_job(job, self)
            after = before.first()
            if after is not None and after != attempts:
                self.claims[key] = after[0]
        else:
            run_job(job, self)

    @precondition(lambda self: self.workers)
    @rule(which=WHICH, times=st.integers(1, 5), crash=st.sampled_from([None, "before store", "after store"]))
    def step(self, which: int, times: int, crash: str | None) -> None:
        """A worker does what its Version needs next, perhaps late, and perhaps dies in the last step."""
        worker = self.workers[which % len(self.workers)]
        for remaining in reversed(range(times)):
            if worker in self.workers:
                self._step(worker, crash if remaining == 0 else None)

    def _step(self, worker: Worker, crash: str | None) -> None:
        held, before = self._holds(worker), _state(worker.lease.version)
        try:
            with _crashing_at(crash), _failing_for_good(worker):
                self._next_step(worker)
        except LeaseLost:
            assert not held, "a worker lost a lease that it held"
            self._drop(worker)
        except Crash:
            self._drop(worker)
        if not held:
            assert _state(worker.lease.version) == before, "a worker wrote without its lease"
        if not self._holds(worker) and worker in self.workers:
            self._drop(worker)

    def _next_step(self, worker: Worker) -> None:
        lease = worker.lease
        try:
            lease.version.refresh_from_db()
        except Version.DoesNotExist as error:
            # Deleted and cleaned up meanwhile: the real worker meets it at its next guarded write.
            raise LeaseLost from error
        missing = lease.version.missing_variants()
        if missing == ():
            processing.finish(lease)
        elif worker.renderer is None:
            opened = processing._staged_original(lease.version)
            path = worker.resources.enter_context(opened)
            worker.renderer = worker.resources.enter_context(self._open(path, lease))
            processing.measure(lease, worker.renderer)
        else:
            processing.make_rendition(lease, worker.renderer, (missing or lease.version.recipes)[0])
            key = lease.version.media_id, lease.version.number
            self.claims[key] = 1

    def _open(self, path: str, lease: Lease) -> AbstractContextManager[Any]:
        return open_renderer_in_process(
            path,
            image_type=lease.version.image_type,
            variants=lease.version.recipes,
            settings=lease.conf,
            on_tick=lease.tick,
        )

    @precondition(lambda self: self.workers)
    @rule(which=WHICH, is_strike=st.booleans())
    def meet_trouble(self, which: int, is_strike: bool) -> None:
        """An attempt ends in a failure that may pass."""
        worker = self.workers[which % len(self.workers)]
        held, before = self._holds(worker), _state(worker.lease.version)
        error = TransientError(FailureCode.OUT_OF_MEMORY, tries_max=3 if is_strike else None)
        processing.retry(worker.lease, error)
        if not held:
            assert _state(worker.lease.version) == before, "a worker wrote without its lease"
        self._drop(worker)

    @precondition(lambda self: self.workers)
    @rule(which=WHICH)
    def stop(self, which: int) -> None:
        """A worker is told to end and gives its attempt back."""
        worker = self.workers[which % len(self.workers)]
        held, version, before = self._holds(worker), worker.lease.version, _state(worker.lease.version)
        attempts = before[0]["attempts"] if before[0] else None
        processing.hand_back(worker.lease)
        if not held:
            assert _state(version) == before, "a worker wrote without its lease"
        if held:
            after = Version.objects.get(pk=version.pk)
            assert (after.status, after.attempts) == ("pending", attempts - 1)
            self.claims[version.media_id, version.number] -= 1
        self._drop(worker)

    @precondition(lambda self: self.workers)
    @rule(which=WHICH)
    def crash(self, which: int) -> None:
        self._drop(self.workers[which % len(self.workers)])

    @rule(choice=st.integers(0, 20))
    def process_again(self, choice: int) -> None:
        """An operator gives a failed upload another chance."""
        failed = list(Version.objects.filter(status="failed").order_by("accepted_at", "pk"))
        if not failed:
            return
        version = failed[choice % len(failed)]
        if process_again(version, now=self.now):
            self.claims[version.media_id, version.number] = 0

    # The world

    @rule(seconds=st.sampled_from([1, 15, 45, 61, 400, 4000, 100_000]))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(seconds=st.sampled_from([-30, -7200]))
    def clock_goes_back(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(choice=st.integers(0, 20))
    def lose_job(self, choice: int) -> None:
        jobs = list(OxTask.objects.order_by("enqueued_at", "pk"))
        if jobs:
            jobs[choice % len(jobs)].delete()

    @rule()
    def reconcile(self) -> None:
        reconcile(self.now)
        self.keys = {key: known for key, known in self.keys.items() if not self._is_forgotten(key)}

    @rule()
    def sweep(self) -> None:
        """Remove what no row names, beside everything else; the other invariants see what goes wrong."""
        self._sweep()

    def _sweep(self) -> None:
        for alias in swept_aliases():
            round_ = SweepRound(alias=alias)
            while not round_.is_over:
                round_.step(self.now)

    @rule()
    def audit(self) -> None:
        """Nothing here damages a file, so there is nothing to be found."""
        round_ = AuditRound()
        while not round_.is_over:
            round_.step(with_checksum=True)
        assert round_.damages == [], "the audit finds a damage that is none"

    # Once each: what was reached before must not be thrown away over and over.
    @precondition(lambda self: self.backup is None)
    @rule()
    def back_up(self) -> None:
        self.backup = Backup(rows=_all_rows(), known=deepcopy(self._known()))

    @precondition(lambda self: self.backup is not None and not self.is_restored)
    @rule(staging=st.sampled_from(["stays", "is empty"]))
    def restore(self, staging: str) -> None:
        """The servers are stopped and an older database takes the place of this one, but not what is in staging."""
        assert self.backup is not None
        self.is_restored = True
        for worker in list(self.workers):
            self._drop(worker)
        _put_back(self.backup.rows)
        if staging == "is empty":
            _empty_staging()
        for name, value in deepcopy(self.backup.known).items():
            setattr(self, name, value)
        staged = set(staging_storage().listdir("")[1])
        self.without_original = {
            (version.media_id, version.number)
            for version in Version.objects.exclude(staging_key="")
            if version.staging_key not in staged
        }

    def _known(self) -> dict[str, Any]:
        """What the outside world knows of the database, and forgets with it."""
        names = ("acknowledged", "keys", "statuses", "claims", "served", "deleted")
        return {name: getattr(self, name) for name in names}

    def _is_forgotten(self, key: str) -> bool:
        return self.keys[key][2] <= self.now - timedelta(seconds=media_settings().upload_key_seconds)

    # What always holds

    @invariant()
    def ready_means_every_file_is_there(self) -> None:
        for version in Version.objects.filter(status="ready"):
            assert version.required is not None
            made = {rendition.variant: rendition for rendition in version.renditions.all()}
            assert set(made) == {variant.name for variant in version.required}, "Ready without all its renditions"
        for rendition in Rendition.objects.all():
            blob = Blob.objects.filter(key=rendition.storage_key).first()
            assert blob is not None, "a row without its file"
            content = bytes(blob.content)
            assert (len(content), hashlib.sha256(content).hexdigest()) == (rendition.byte_size, rendition.sha256)

    @invariant()
    def served_is_ready_and_never_goes_back(self) -> None:
        for media in Media.objects.select_related("current"):
            ready = list(media.versions.filter(status="ready"))
            assert ready == ([media.current] if media.current else []), "what is served is not what is Ready"
            number = media.current.number if media.current else 0
            assert media.pk in self.deleted or number >= self.served.get(media.pk, 0), "an older Version is served"
            self.served[media.pk] = number

    @invariant()
    def deleted_stays_deleted(self) -> None:
        for media in Media.objects.filter(pk__in=self.deleted):
            assert media.deleted_at is not None
            assert media.current is None
            assert not Rendition.objects.filter(version__media=media).exists(), "a deleted image is back"
            assert not media.versions.filter(status__in=["pending", "processing", "ready"]).exists()

    @invariant()
    def nothing_acknowledged_is_lost(self) -> None:
        """Whoever may still be processed has its original: the unfinished, and what a failure would bring back."""
        waiting = Q(status__in=["pending", "processing"]) | Q(status="superseded", ready_at=None, cleanup_at=None)
        for version in Version.objects.filter(waiting, media__deleted_at=None):
            if (version.media_id, version.number) in self.without_original:
                continue
            with local_path(staging_storage(), version.staging_key) as path, Path(path).open("rb") as staged:
                assert staged.read() == self.acknowledged[version.media_id, version.number]

    @invariant()
    def states_move_only_forward(self) -> None:
        for version in Version.objects.all():
            key = version.media_id, version.number
            before = self.statuses.get(key, "pending")
            assert version.status in LEGAL[before], "a state went backwards"
            if (before, version.status) == ("superseded", "pending"):
                self.claims[key] = 0
            self.statuses[key] = version.status

    @invariant()
    def attempts_are_bounded_and_counted(self) -> None:
        for version in Version.objects.all():
            claims = self.claims.get((version.media_id, version.number), 0)
            assert version.attempts == claims, "attempts are counted wrongly"
            assert claims <= media_settings().max_attempts, "claimed too often"

    # The end: without faults everything comes to rest

    def teardown(self) -> None:
        for worker in list(self.workers):
            self._drop(worker)
        for _ in range(ROUNDS_MAX):
            self._round()
            if not Version.objects.unfinished().exists() and not OxTask.objects.exists():
                break
        self._check_rest()

    def _round(self) -> None:
        """Let so much time pass that every lease, delay and grace is over, and run what is due then."""
        self.now += timedelta(days=8)
        reconcile(self.now)
        for job in OxTask.objects.filter(status="READY"):
            job.delete()
            run_job(job, self)

    def _check_rest(self) -> None:
        for media_id, number in self.acknowledged:
            version = Version.objects.filter(media_id=media_id, number=number).first()
            if media_id in self.deleted:
                continue
            current = Media.objects.get(pk=media_id).current
            assert version.status in {"ready", "failed", "superseded"}
            if version.status == "superseded":
                assert current is not None, "an upload gave way to nothing"
                assert current.number > number
        if not self.is_restored:
            assert staging_storage().listdir("")[1] == []
        named = set(Rendition.objects.values_list("storage_key", flat=True))
        files = set(Blob.objects.values_list("key", flat=True))
        assert named <= files, "a row without its file"
        self._sweep()
        self.now += timedelta(days=2)
        self._sweep()
        files = set(Blob.objects.values_list("key", flat=True))
        assert files == named, "a file without a row outlives the sweep"
        assert staging_storage().listdir("")[1] == [], "an original without a row outlives the sweep"
        self.ready_means_every_file_is_there()

    def _holds(self, worker: Worker) -> bool:
        """Whether the row says that this worker's lease is in force; asked without the code under test."""
        row = Version.objects.filter(pk=worker.lease.version.pk).first()
        return (
            row is not None
            and row.status == "processing"
            and row.lease_token == worker.lease.token
            and row.lease_expires_at is not None
            and row.lease_expires_at > self.now
        )

    def _drop(self, worker: Worker) -> None:
        self.workers.remove(worker)
        worker.resources.close()


@contextmanager
def _crashing_at(point: str | None) -> Iterator[None]:
    """Let the process die at the store: before the file is created, or after it and before its row."""
    if point is None:
        yield
        return
    save = DatabaseStorage.save

    def dying(self: DatabaseStorage, *args: Any, **kwargs: Any) -> str:
        if point == "after store":
            save(self, *args, **kwargs)
        raise Crash

    with mock.patch.object(DatabaseStorage, "save", dying):
        yield


@contextmanager
def _crashing_at_deletion(crash: bool) -> Iterator[None]:
    """Let the process die after it has deleted one file."""
    delete = DatabaseStorage.delete

    def dying(self: DatabaseStorage, name: str) -> None:
        delete(self, name)
        if crash:
            raise Crash

    with mock.patch.object(DatabaseStorage, "delete", dying):
        yield


@contextmanager
def _failing_for_good(worker: Worker) -> Iterator[None]:
    """Do with a permanent failure what `process` does."""
    try:
        yield
    except PermanentError as error:
        processing.fail(worker.lease, error)


@contextmanager
def _expected(kind: type[BaseException]) -> Iterator[None]:
    try:
        yield
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was not raised")


def _state(version: Version) -> Any:
    row = Version.objects.filter(pk=version.pk).values().first()
    renditions = list(version.renditions.order_by("pk").values())
    return row, renditions, Media.objects.values_list("current_id", flat=True).get(pk=version.media_id)


def _counts() -> tuple[int, ...]:
    staged = len(staging_storage().listdir("")[1])
    return (Media.objects.count(), Version.objects.count(), OxTask.objects.count(), staged)


def _all_rows() -> dict[type[Model], list[dict[str, Any]]]:
    return {model: list(model._default_manager.values()) for model in MODELS}


def _put_back(rows: dict[type[Model], list[dict[str, Any]]]) -> None:
    served = {row["id"]: row["current_id"] for row in rows[Media]}
    with transaction.atomic():
        _delete_rows()
        for model in MODELS:
            # A Media and the Version that it serves name each other.
            changes = {"current_id": None} if model is Media else {}
            model._default_manager.bulk_create([model(**(row | changes)) for row in rows[model]])
        for media_id, current_id in served.items():
            Media.objects.filter(pk=media_id).update(current=current_id)


def _delete_rows() -> None:
    Media.objects.update(current=None)
    for model in reversed(MODELS):
        model._default_manager.all().delete()


def _empty_database() -> None:
    with transaction.atomic():
        _delete_rows()
    _empty_staging()


def _empty_staging() -> None:
    staging = staging_storage()
    staging.save("probe", ContentFile(b""))
    for name in staging.listdir("")[1]:
        staging.delete(name)
