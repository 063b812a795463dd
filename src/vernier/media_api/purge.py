"""Purge: make the cache in front of the site forget addresses, before the files behind them are removed."""

from __future__ import annotations

from http import HTTPStatus
from http.client import HTTPException
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from django.core.exceptions import ImproperlyConfigured

from vernier.media_api.conf import media_api_settings
from vernier.media_api.links import media_url, recipes_by_file_name, version_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vernier.media.models import Media, Version

PLACEHOLDER = "{url}"
# A cache forgets in milliseconds; the interface of a CDN may take seconds. The clean-up comes again later.
TIMEOUT_SECONDS = 10


class PurgeFailed(Exception):  # noqa: N818 - it names what happened
    """A cache may still have what it was to forget."""


def purge(media: Media, versions: list[Version]) -> None:
    """Make the cache forget the Media's address and those of all renditions of these Versions; raise PurgeFailed.

    This is a `vernier.media.clean_up.Purge`. The first refusal ends it: all of it is tried again with the clean-up.
    """
    conf = media_api_settings()
    if conf.base_url is None or conf.purge_url is None:
        raise ImproperlyConfigured("VERNIER_MEDIA_API lacks BASE_URL or PURGE_URL, which purging needs.")
    opener = _opener()
    for url in _urls(conf.base_url.rstrip("/"), media, versions):
        target = conf.purge_url.replace(PLACEHOLDER, quote(url, safe=""))
        _forget(opener, Request(target, method=conf.purge_method), url)  # noqa: S310 - _forget() checks the scheme


def _opener() -> OpenerDirector:
    """Return what opens http and https alone, and follows no redirect: the operator has named one address."""
    opener = OpenerDirector()
    for handler in (ProxyHandler, HTTPHandler, HTTPSHandler, HTTPDefaultErrorHandler, HTTPErrorProcessor):
        opener.add_handler(handler())
    return opener


def _urls(base: str, media: Media, versions: list[Version]) -> Iterator[str]:
    """Yield first the address whose content changes. Rows of renditions may be gone: the Versions know the names."""
    yield media_url(base, media.pk)
    for version in versions:
        for file_name in recipes_by_file_name(version):
            yield version_url(base, version, file_name)


def _forget(opener: OpenerDirector, request: Request, url: str) -> None:
    if urlsplit(request.full_url).scheme not in {"http", "https"}:
        raise ImproperlyConfigured("VERNIER_MEDIA_API['PURGE_URL'] is not an http:// or https:// address.")
    try:
        with opener.open(request, timeout=TIMEOUT_SECONDS):
            pass
    except HTTPError as error:
        error.close()
        # What a cache does not have, it need not forget.
        if error.code != HTTPStatus.NOT_FOUND:
            raise PurgeFailed(f"The cache answered {error.code} when it was to forget {url}.") from error
    except (OSError, HTTPException, ValueError) as error:
        raise PurgeFailed(f"The cache could not be told to forget {url}: {error}.") from error
