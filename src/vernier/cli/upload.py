"""`vernier media upload`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from django.conf import settings
from rich.progress import DownloadColumn, TransferSpeedColumn

from vernier.cli.author import find_author
from vernier.cli.progress import bars
from vernier.media import accept_upload
from vernier.media.exceptions import MediaError
from vernier.media.storages import COPY_BYTES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path

    from rich.progress import Progress

    from vernier.authors.models import Author


def run(arguments: argparse.Namespace) -> int:
    """Upload each file and print its URL; what is wrong with one does not keep the others back."""
    author = find_author(arguments.author)
    uploaded = [_upload(file, author) for file in arguments.files]
    return 0 if all(uploaded) else 1


def _upload(file: Path, author: Author) -> bool:
    try:
        with bars(DownloadColumn(), TransferSpeedColumn()) as progress:
            accepted = accept_upload(_chunks(file, progress), owner=author)
    except MediaError as error:
        print(f"{file}: {error}", file=sys.stderr)
        return False
    except OSError as error:
        print(f"{file}: {error.strerror or error}.", file=sys.stderr)
        return False
    print(f"{settings.VERNIER_MEDIA_API['BASE_URL']}/media/{accepted.media_id}", flush=True)
    return True


def _chunks(file: Path, progress: Progress) -> Iterator[bytes]:
    with file.open("rb") as opened:
        bar = progress.add_task(file.name, total=file.stat().st_size)
        while chunk := opened.read(COPY_BYTES):
            yield chunk
            progress.advance(bar, len(chunk))
