"""A retry-safe image pipeline for Django: accepted at once, processed by a worker, never lost.

from vernier.media import accept_upload

accepted = accept_upload(request.FILES["file"].chunks(), owner=request.user)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vernier.media.accept import Upload, accept_upload
    from vernier.media.record import Accepted

__all__ = ["Accepted", "Upload", "accept_upload"]

_MODULES = {"Accepted": "record", "Upload": "accept", "accept_upload": "accept"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - PEP 562
    """Load the public names on first use: models cannot be imported before Django has loaded its apps."""
    if name in _MODULES:
        return getattr(import_module(f"vernier.media.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
