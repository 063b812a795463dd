"""The corpus of difficult originals, each through the whole pipeline as it runs in production."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from PIL import Image

from tests.media.factory import author
from tests.media.rendering import TOLERANCE, Result, Row, corpus_rows, decode
from vernier.media import accept_upload
from vernier.media.child.protocol import Measured, Rendered
from vernier.media.exceptions import UploadEmpty, UploadTypeRefused
from vernier.media.failures import FailureCode
from vernier.media.models import Version
from vernier.media.process import process
from vernier.media.sniff import IMAGE_TYPES
from vernier.media.storages import renditions_storage
from vernier.media.variants import Size

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("staging_directory")]

# What each word after `reject:` stands for among the reason codes.
REJECTIONS = {
    "too-large": {FailureCode.TOO_MANY_PIXELS},
    "corrupt": {FailureCode.UNDECODABLE},
    "truncated": {FailureCode.TRUNCATED},
    "unsupported": {FailureCode.UNSUPPORTED_TYPE},
}
# Groups of exiftool that tell of the format itself.
PLAIN_GROUPS = {"SourceFile", "ExifTool", "File", "Composite", "JFIF", "PNG", "GIF", "QuickTime"}


@pytest.mark.parametrize("row", corpus_rows(), ids=lambda row: row.file)
def test_corpus(row: Row, settings, staging_directory, tmp_path):
    settings.VERNIER_MEDIA = {"UPLOAD_TYPES": tuple(IMAGE_TYPES)}
    try:
        accepted = accept_upload([row.path.read_bytes()], owner=author())
    except (UploadEmpty, UploadTypeRefused):
        assert "reject:not-image" in row.expected or "reject:unsupported" in row.expected
    else:
        process(accepted.media_id, accepted.number)
        _check_end(row, Version.objects.get(media_id=accepted.media_id), tmp_path)
    assert list(staging_directory.iterdir()) == []


def _check_end(row: Row, version: Version, tmp_path) -> None:
    if version.status == "failed":
        assert "reject:" in row.expected or row.expected.startswith("ok-tolerated")
        assert version.failure_code in _refusals(row)
    else:
        assert (version.status, row.expected[:2]) == ("ready", "ok")
        _check_result(row, _stored(version), tmp_path)


def _stored(version: Version) -> Result:
    """Return what a reader gets, from the store."""
    assert version.size is not None
    renditions = {}
    for rendition in version.renditions.all():
        with renditions_storage().open(rendition.storage_key) as stored:
            size = Size(width=rendition.width, height=rendition.height)
            renditions[rendition.variant] = Rendered(data=stored.read(), format=rendition.format, size=size)
    measured = Measured(size=version.size, has_alpha=bool(version.has_alpha), placeholder=version.placeholder)
    return Result(measured=measured, renditions=renditions)


def _refusals(row: Row) -> set[FailureCode]:
    if row.expected.startswith("ok-tolerated"):
        return REJECTIONS["corrupt"] | REJECTIONS["truncated"]
    words = re.split(r"[:\s]+", row.expected)
    return set().union(*(REJECTIONS.get(word, set()) for word in words))


def _check_result(row: Row, result: Result, tmp_path) -> None:
    size = result.measured.size
    assert f"{size.width}x{size.height}" in row.expected.split()
    assert result.measured.has_alpha == ("alpha" in row.expected.split())
    assert re.fullmatch("#[0-9a-f]{6}", result.measured.placeholder)
    for rendered in result.renditions.values():
        image = decode(rendered, "RGBA")
        _check_colours(row, image)
        if "alpha" in row.expected.split():
            assert image.getextrema()[3][0] < 255
    served = [rendered.data for rendered in result.renditions.values()]
    if "nometa" in row.expected or "notrailing" in row.expected:
        assert not any(
            re.search(rb"secret|Exif\0|http|ICC_PROFILE|PK\x03\x04", data, re.IGNORECASE) for data in served
        )
    if "nometa" in row.expected:
        _check_with_exiftool(served, tmp_path)


def _check_colours(row: Row, image: Image.Image) -> None:
    for x, y, *colour in re.findall(r"px=([\d.]+),([\d.]+):(\d+),(\d+),(\d+)", row.expected):
        seen = image.getpixel((int(float(x) * image.width), int(float(y) * image.height)))
        assert np.abs(np.subtract(seen[:3], [int(channel) for channel in colour])).max() <= TOLERANCE
    if "hue=red" in row.expected:
        red, green, blue, _ = image.getpixel((image.width // 2, image.height // 2))
        assert red > 150
        assert red > 2 * max(green, blue)


def _check_with_exiftool(served: list[bytes], tmp_path) -> None:
    if shutil.which("exiftool") is None:
        return
    paths = [tmp_path / str(number) for number, _ in enumerate(served)]
    for path, data in zip(paths, served, strict=True):
        path.write_bytes(data)
    told = subprocess.run(["exiftool", "-G", "-j", *paths], capture_output=True, check=True).stdout
    assert {key.split(":")[0] for file in json.loads(told) for key in file} <= PLAIN_GROUPS
