"""Sell in the shop of docs/django.md: upload, replace and delete a picture; fails where the page is wrong."""

import os
import re
import sys
from pathlib import Path

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "shop.settings"
django.setup()

from catalog.models import Product  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from django.test import Client  # noqa: E402
from django_ox.worker import Worker  # noqa: E402

from vernier.media.delete import delete_media  # noqa: E402
from vernier.media.models import Media  # noqa: E402

FIRST, SECOND = (Path(path) for path in sys.argv[1:])

seller = get_user_model().objects.create_user("bob")
product = Product.objects.create(name="Chair", seller=seller)
client = Client(headers={"host": "localhost"})
client.force_login(seller)


def page():
    return client.get(f"/products/{product.pk}").text


def upload(photo, *, key):
    with photo.open("rb") as file:
        return client.post(f"/products/{product.pk}", {"file": file, "key": key})


def work():
    while Worker().run_once():
        pass


def shown():
    found = re.search('<img src="(.*?)"', page())
    return found and found[1]


def main():
    key = re.search('name="key" value="(.*?)"', page())[1]
    assert upload(FIRST, key=key).status_code == 302
    assert "Pending" in page()
    assert shown() is None
    # The answer was lost before the row was written: the browser sends the form again.
    Product.objects.update(picture=None)
    upload(FIRST, key=key)
    media = Media.objects.get()
    work()
    first = shown()
    served = client.get(first)
    assert served["Content-Type"] == "image/webp"
    assert b"".join(served)[8:12] == b"WEBP"

    assert "not an image" in upload(Path(__file__), key=key).text
    upload(SECOND, key=key)
    assert shown() == first
    work()
    assert shown() == first.replace("/v1/", "/v2/")
    assert Media.objects.get() == media

    delete_media(media.pk, owner=seller)
    assert client.get(first).status_code == 404
    work()
    Media.objects.filter(owner=seller).exclude(cleaned_at=None).delete()
    seller.delete()


if __name__ == "__main__":
    main()
