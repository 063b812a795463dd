"""What a browser makes of a page."""

import re
from html import unescape

from django.test import Client

PASSWORD = "correct horse battery"


def fields(response):
    """Return the values of the fields of the page's first form, by name."""
    form = response.text.partition("<form")[2].partition("</form>")[0]
    inputs = re.findall(r"<input[^>]*>", form)
    return {attribute(tag, "name"): attribute(tag, "value") for tag in inputs}


def attribute(tag, name):
    found = re.search(rf'\b{name}="([^"]*)"', tag)
    return unescape(found[1]) if found else ""


def browser(**more):
    """Return a client that is refused where a form lacks its token, as a browser is."""
    return Client(enforce_csrf_checks=True, **more)


def submit(client, path, **given):
    """Open the page and submit its form with these values; return the answer."""
    page = client.get(path)
    return client.post(path, {**fields(page), **given})


def is_signed_in(client):
    return client.get("/account").status_code == 200
