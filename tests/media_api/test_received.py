"""What a view can rely on, whether the form came through the handler or not."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from vernier.media.exceptions import UploadEmpty
from vernier.media_api.errors import ApiError
from vernier.media_api.form_intake import encode
from vernier.media_api.received import ReceivedFile, ReceivedForm, received_form

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.lists(st.tuples(text.filter(bool), text), max_size=20))
def test_encode__is_read_by_django_as_it_was_sent(fields):
    read = QueryDict(encode(ReceivedForm(fields=tuple(fields))))
    assert [(name, value) for name, values in read.lists() for value in values] == sorted(
        fields, key=lambda field: [name for name, _ in fields].index(field[0])
    )


def test_received_form__without_files_needs_no_handler(rf):
    form = received_form(rf.post("/", {"photo": ["a", "b"], "content": "c"}))
    assert form.fields == (("photo", "a"), ("photo", "b"), ("content", "c"))
    assert form.files == ()


def test_received_form__with_files_tells_that_the_handler_is_missing(rf):
    request = rf.post("/", {"photo": SimpleUploadedFile("a.jpg", b"x")})
    with pytest.raises(ApiError, match="FormHandler"):
        received_form(request)


def test_received_form__has_no_nul_in_it(rf):
    with pytest.raises(ApiError, match="NUL"):
        received_form(rf.post("/", {"content": "a\0b"}))


def test_received_file__that_was_refused_is_not_accepted():
    refused = ReceivedFile(field="photo", filename="a.jpg", byte_size=0, sha256="", refusal=UploadEmpty("0 bytes"))
    with pytest.raises(UploadEmpty):
        refused.accept(owner=None)
