"""What a form holds while it is there, and when it is gone."""

from pathlib import Path

import pytest
from django.conf import settings
from django.test import RequestFactory

from tests.media_api.site import form
from vernier.media.models import Media
from vernier.media_api.form_handler import FormEndpoint
from vernier.media_api.form_intake import open_form

PHOTO = 'name="photo"; filename="a.jpg"'
ENDPOINT = FormEndpoint(
    matches=lambda path: True,
    file_fields=frozenset({"photo"}),
    files_max=2,
    authorise=lambda request, fields: True,
)


@pytest.fixture
def receive():
    """Receive a whole form in pieces, and return the intake."""

    def receive(*parts):
        body = form(*parts)
        request = RequestFactory().post("/", body, content_type="multipart/form-data; boundary=b")
        intake = open_form(request, ENDPOINT)
        for start in range(0, len(body), 1000):
            intake.write(body[start : start + 1000])
        return intake

    return receive


def staged():
    staging = Path(settings.STORAGES["staging"]["OPTIONS"]["location"])
    return [path for path in staging.rglob("*") if path.is_file()]


@pytest.mark.django_db(transaction=True)
def test_received_file__is_gone_when_the_request_has_ended(receive, author, jpeg):
    intake = receive((PHOTO, jpeg))
    received, _ = intake.finish()
    intake.close()
    with pytest.raises(ValueError, match="closed"):
        received.files[0].accept(owner=author)
    assert (Media.objects.exists(), staged()) == (False, [])


def test_refused_file__takes_no_space_while_the_form_is_there(receive, jpeg, settings):
    settings.VERNIER_MEDIA = {"UPLOAD_MAX_BYTES": len(jpeg) * 2}
    intake = receive((PHOTO, jpeg), (PHOTO, jpeg * 3))
    assert len(staged()) == 1
    intake.close()
    assert staged() == []
