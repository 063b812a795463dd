"""Secrets that let somebody in: drawn, shown once, and kept as a hash alone."""

from __future__ import annotations

import hashlib
import secrets

# 256 random bits: no guess succeeds and no salt is needed for the hash.
_BYTES = 32


def new_secret() -> str:
    """Draw a secret that can stand in an address and in a header."""
    return secrets.token_urlsafe(_BYTES)


def hash_secret(secret: str) -> str:
    """Return what is kept of the secret, and what it is looked up by: its time tells nothing of the secret."""
    return hashlib.sha256(secret.encode()).hexdigest()
