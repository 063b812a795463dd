"""Vernier: a self-hosted IndieWeb publishing server with a retry-safe image pipeline."""

__version__ = "0.1.0"
