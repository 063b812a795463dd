"""`vernier import` and `vernier export`."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from django.conf import settings
from rich.progress import MofNCompleteColumn, TimeRemainingColumn

from vernier.cli.author import find_author
from vernier.cli.progress import bars
from vernier.exchange.exceptions import DirectoryNotEmpty
from vernier.exchange.export import count_exported, export_site
from vernier.exchange.import_folder import Importer, find_files
from vernier.site.exceptions import VernierError

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    """Carry the one or the other out."""
    return run_import(arguments) if arguments.command == "import" else run_export(arguments)


def run_import(arguments: argparse.Namespace) -> int:
    """Import the folder; return 1 where a file was refused."""
    author = find_author(arguments.author)
    if not arguments.folder.is_dir():
        raise VernierError(f"{arguments.folder} is no folder.")
    files = find_files(arguments.folder.resolve())
    importer = Importer(
        arguments.folder,
        author,
        base=settings.VERNIER_MEDIA_API["BASE_URL"],
        is_dry_run=arguments.dry_run,
        makes_posts=arguments.photo_posts,
    )
    outcomes: Counter[str] = Counter()
    profile = importer.take_profile()
    if profile is not None and profile.detail:
        outcomes[profile.outcome] += 1
        print(f"{profile.file}: {profile.detail}", file=sys.stderr)
    with bars(MofNCompleteColumn(), TimeRemainingColumn()) as progress:
        bar = progress.add_task("importing", total=len(files))
        for file in files:
            imported = importer.take(file)
            outcomes[imported.outcome] += 1
            if imported.detail:
                print(f"{imported.file}: {imported.detail}", file=sys.stderr)
            elif arguments.dry_run and imported.outcome == "new":
                print(f"{imported.file}: would be imported")
            progress.advance(bar)
    verb = "would be imported" if arguments.dry_run else "imported"
    print(f"{outcomes['new']} {verb}, {outcomes['known']} here already, {outcomes['refused']} refused.")
    return 1 if outcomes["refused"] else 0


def run_export(arguments: argparse.Namespace) -> int:
    """Export everything; return 1 where an image has no file."""
    try:
        with bars(MofNCompleteColumn(), TimeRemainingColumn()) as progress:
            bar = progress.add_task("exporting", total=count_exported())
            exported = export_site(
                arguments.folder,
                base=settings.VERNIER_MEDIA_API["BASE_URL"],
                on_progress=lambda: progress.advance(bar),
            )
    except DirectoryNotEmpty as error:
        raise VernierError(str(error)) from error
    print(f"{exported.posts} posts and {exported.images} images are in {arguments.folder}.")
    for media_id in exported.without_file:
        print(f"Of the image {media_id} there is no file.", file=sys.stderr)
    return 1 if exported.without_file else 0
