"""Rows and files as a worker leaves them, made directly."""

import hashlib

from django.core.files.base import ContentFile
from django.utils import timezone

from vernier.media.models import Media, Rendition, Version
from vernier.media.storages import renditions_storage
from vernier.media.variants import DEFAULT_VARIANTS

CONTENTS = {"photo": ("avif", b"AVIF" * 100), "fallback": ("jpeg", b"JPEG" * 50)}


def make_media(author, *, status="ready", contents=CONTENTS, variants=DEFAULT_VARIANTS, **fields):
    """Make a Media with one Version in that status, which is served if it is ready."""
    media = Media.objects.create(owner=author, created_at=timezone.now())
    add_version(media, status=status, contents=contents, variants=variants, **fields)
    return media


def add_version(media, *, status="ready", contents=CONTENTS, variants=DEFAULT_VARIANTS, **fields):
    now = timezone.now()
    media.newest_number += 1
    states = {
        "processing": {"lease_token": media.pk, "lease_expires_at": now},
        "ready": {"ready_at": now, "width": 400, "height": 300},
        "failed": {"failed_at": now, "failure_code": "truncated"},
    }
    if status == "ready":
        media.versions.filter(status="ready").update(status="superseded", superseded_at=now)
    version = Version.objects.create(
        media=media,
        number=media.newest_number,
        status=status,
        sha256=hashlib.sha256(str(media.newest_number).encode()).hexdigest(),
        byte_size=1,
        variants=[variant.to_json() for variant in variants],
        rung_at=now,
        **{"accepted_at": now, "image_type": "jpeg", "extension": "jpg", **states.get(status, {}), **fields},
    )
    for variant, (image_format, content) in contents.items():
        add_rendition(version, variant, image_format, content)
    if status == "ready":
        media.current = version
    media.save()
    return version


def add_rendition(version, variant, image_format, content):
    rendition = Rendition(
        version=version,
        variant=variant,
        format=image_format,
        width=400,
        height=300,
        byte_size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        created_at=timezone.now(),
    )
    rendition.storage_key = version.key_for(variant, rendition.extension)
    renditions_storage().save(rendition.storage_key, ContentFile(content))
    rendition.save()


def make_ready(media):
    """Let the newest Version become Ready, as a worker's last transaction does."""
    version = media.versions.get(number=media.newest_number)
    for variant, (image_format, content) in CONTENTS.items():
        add_rendition(version, variant, image_format, content)
    Version.objects.filter(pk=version.pk).update(
        status="ready", ready_at=timezone.now(), width=400, height=300, lease_token=None, lease_expires_at=None
    )
    Media.objects.filter(pk=media.pk).update(current=version)


def supersede(media, number):
    """Let the Version have given way to a newer one, its grace being over."""
    now = timezone.now()
    Version.objects.filter(media=media, number=number).update(status="superseded", superseded_at=now, cleanup_at=now)


def lose(media, *variants):
    """Let an audit have found that the files of these renditions of the current Version are lost."""
    Rendition.objects.filter(version=media.current_id, variant__in=variants).update(lost_at=timezone.now())
