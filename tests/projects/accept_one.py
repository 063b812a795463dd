"""Accept an upload in the project `media_only` and run its job; print the status in which it ends."""

import sys

import django

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from django_ox.worker import Worker  # noqa: E402

from vernier.media import accept_upload  # noqa: E402
from vernier.media.models import Version  # noqa: E402


def main():
    owner = get_user_model().objects.create_user("bob")
    with open(sys.argv[1], "rb") as photo:  # noqa: PTH123
        accept_upload(photo, owner=owner)
    while Worker().run_once():
        pass
    print(get_user_model().__module__, Version.objects.get().status)


if __name__ == "__main__":
    main()
