"""What is asked again and again goes by an index, whatever the size of the archive."""

from django.db import connection

from tests.media_api.factory import make_media


def test_status__scans_no_table(client, author):
    media = make_media(author)
    client.force_login(author)
    asked = []

    def keep(execute, sql, params, many, context):
        asked.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(keep):
        assert client.get(f"/media/{media.pk}/status").status_code == 200
    of_media = [(sql, params) for sql, params in asked if "media_version" in sql or "media_rendition" in sql]
    assert of_media
    for sql, params in asked:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
            plan = [line[3] for line in cursor.fetchall()]
        assert not [line for line in plan if line.startswith("SCAN")], (sql, plan)
