"""`/metrics`: the numbers, what they cost, and who may read them."""

import re
from datetime import timedelta

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.media_api.factory import make_media
from vernier.media.models import Version
from vernier.media.tasks import process_version
from vernier.site.metrics import FINDINGS_FILE, collect, record_findings

pytestmark = pytest.mark.django_db

LINE = re.compile(r'[a-z_]+(\{[a-z]+="[a-z0-9.-]+"(,[a-z]+="[a-z0-9.-]+")*\})? [0-9.e+-]+')


@pytest.fixture(autouse=True)
def findings_file():
    file = django_settings.DATA_DIR / "run" / FINDINGS_FILE
    yield file
    file.unlink(missing_ok=True)


def numbers(client):
    response = client.get("/metrics")
    assert response.status_code == 200
    lines = [line for line in response.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def ago(**length):
    return timezone.now() - timedelta(**length)


def test_metrics__are_in_the_text_format(client, author):
    make_media(author, status="failed")
    make_media(author)
    response = client.get("/metrics")
    assert response["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert "no-store" in response["Cache-Control"]
    assert response.text.endswith("\n")
    declared = set()
    for line in response.text.splitlines():
        if line.startswith("# TYPE "):
            declared.add(line.split()[2])
        elif not line.startswith("# HELP "):
            assert LINE.fullmatch(line), line
            assert re.match("[a-z_]+", line)[0] in declared


def test_metrics__of_an_empty_site_are_zero(client):
    assert set(numbers(client).values()) == {0}


def test_metrics__count_the_work_in_flight(client, author):
    make_media(author, status="pending", contents={}, accepted_at=ago(seconds=90), attempts=3)
    make_media(author, status="pending", contents={})
    make_media(author, status="processing", contents={}, attempts=1)
    found = numbers(client)
    assert found['vernier_versions{status="pending"}'] == 2
    assert found['vernier_versions{status="processing"}'] == 1
    assert 90 <= found["vernier_oldest_pending_seconds"] < 95
    assert found['vernier_attempts{status="pending"}'] == 3
    assert found['vernier_attempts_max{status="pending"}'] == 3
    assert found['vernier_attempts{status="processing"}'] == 1


def test_metrics__count_the_jobs(client):
    process_version.enqueue("b4f708c9-c3ac-4577-8a12-29ee8587ac9b", 1)
    found = numbers(client)
    assert (found['vernier_jobs{state="queued"}'], found['vernier_jobs{state="running"}']) == (1, 0)


def test_metrics__count_the_failures_of_a_day_by_code(client, author):
    for code, failed_at in (("truncated", ago(hours=1)), ("truncated", ago(hours=23)), ("time-limit", ago(hours=25))):
        make_media(author, status="failed", contents={}, failure_code=code, failed_at=failed_at)
    failures = {name: value for name, value in numbers(client).items() if "failures" in name}
    assert failures == {'vernier_failures_last_day{code="truncated"}': 2}


def test_metrics__tell_how_long_the_last_hours_uploads_took(client, author):
    for seconds in (1, 2, 3, 40):
        make_media(author, accepted_at=ago(seconds=60 + seconds), ready_at=ago(seconds=60))
    make_media(author, accepted_at=ago(hours=3), ready_at=ago(hours=2))
    make_media(author, status="pending", contents={})
    found = numbers(client)
    assert found["vernier_uploads_last_hour"] == 5
    assert found["vernier_ready_last_hour"] == 4
    assert found['vernier_ready_seconds{quantile="0.5"}'] == pytest.approx(2, abs=0.1)
    assert found['vernier_ready_seconds{quantile="0.95"}'] == pytest.approx(40, abs=0.1)


def test_metrics__show_what_reconcile_found(client, findings_file):
    record_findings({"rung": 0, "spent": 0})
    assert not findings_file.exists()
    record_findings({"rung": 2, "spent": 0})
    record_findings({"rung": 1, "cleanups": 4})
    found = numbers(client)
    assert found['vernier_reconcile_found_total{kind="rung"}'] == 3
    assert found['vernier_reconcile_found_total{kind="cleanups"}'] == 4


def test_metrics__survive_damaged_findings(client, findings_file):
    for content in (b"", b"\xff", b"[1]", b'{"rung": "x"}', b'{"a\\"b": 1}'):
        findings_file.write_bytes(content)
        text = client.get("/metrics").text
        assert "vernier_versions" in text
        assert "vernier_reconcile" not in text
    record_findings({"rung": 1})
    assert numbers(client)['vernier_reconcile_found_total{kind="rung"}'] == 1


def test_metrics__contain_no_ids(client, author):
    media = [make_media(author, status=status) for status in ("pending", "ready", "failed")]
    text = client.get("/metrics").text
    assert not any(str(one.pk) in text or author.username in text for one in media)


def test_metrics__cost_the_same_few_queries_whatever_there_is(author):
    def queries():
        with CaptureQueriesContext(
            connection,
        ) as captured:
            list(collect(timezone.now()))
        return [query["sql"] for query in captured]

    before = queries()
    for status in ("pending", "ready", "failed", "processing") * 5:
        make_media(author, status=status, contents={})
    assert len(queries()) == len(before) == 8


def test_metrics__read_no_whole_table(author):
    """The newest Versions are read backwards by primary key, up to a limit; everything else by an index."""
    with CaptureQueriesContext(connection) as captured:
        list(collect(timezone.now()))
    for query in [query["sql"] for query in captured]:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {query}")
            plan = [row[3] for row in cursor.fetchall() if row[3].startswith(("SCAN", "SEARCH"))]
        bounded = "LIMIT 1000" in query and plan == ["SCAN media_version"]
        assert bounded or all("INDEX" in step for step in plan), (query, plan)


@pytest.mark.parametrize(
    ("extra", "status"),
    [
        ({}, 200),
        ({"REMOTE_ADDR": "127.8.8.8"}, 200),
        ({"REMOTE_ADDR": "::1"}, 200),
        ({"REMOTE_ADDR": "::ffff:127.0.0.1"}, 200),
        ({"REMOTE_ADDR": "192.0.2.1"}, 404),
        ({"REMOTE_ADDR": "::ffff:192.0.2.1"}, 404),
        ({"REMOTE_ADDR": "10.0.0.1"}, 404),
        ({"REMOTE_ADDR": ""}, 404),
        ({"REMOTE_ADDR": "localhost"}, 404),
        ({"HTTP_X_FORWARDED_PROTO": "https"}, 404),
        ({"HTTP_X_FORWARDED_HOST": "example.org"}, 404),
        ({"HTTP_X_FORWARDED_FOR": "127.0.0.1"}, 404),
        ({"HTTP_X_FORWARDED_FOR": ""}, 404),
        ({"HTTP_FORWARDED": "for=192.0.2.1"}, 404),
        ({"HTTP_X_REAL_IP": "192.0.2.1"}, 404),
        ({"HTTP_VIA": "1.1 proxy"}, 404),
    ],
)
def test_metrics__are_for_this_machine_unless_the_setting_says_otherwise(client, settings, extra, status):
    assert client.get("/metrics", **extra).status_code == status
    settings.VERNIER_METRICS_PUBLIC = True
    assert client.get("/metrics", **extra).status_code == 200


def test_metrics__are_for_reading(client):
    assert client.post("/metrics").status_code == 405


def test_metrics__do_not_need_a_session(client, author):
    make_media(author)
    assert "Set-Cookie" not in client.get("/metrics").headers
    assert Version.objects.count() == 1
