"""What one fetch may still use: seconds, and bytes from the network."""

from __future__ import annotations

import time

from vernier.net.exceptions import FetchFailed


class Budget:
    """One per fetch, over all its redirects. What is asked of it raises FetchFailed once it is used up."""

    def __init__(self, *, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._what = "answer"
        self._bytes_max = 0
        self._bytes_left = 0

    def seconds_left(self) -> float:
        """Return how long may still be waited, more than 0."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise self.timed_out()
        return left

    def timed_out(self) -> FetchFailed:
        """Return the error that says that the time is over."""
        return FetchFailed(f"The server took longer than {self._seconds:g} seconds.")

    def allow(self, what: str, *, bytes_max: int) -> None:
        """Let this many bytes of headers or body come from the network, from now on."""
        self._what, self._bytes_max, self._bytes_left = what, bytes_max, bytes_max

    def bytes_left(self) -> int:
        """Return how many bytes may still come, more than 0."""
        if self._bytes_left <= 0:
            raise FetchFailed(f"The server sent more than {self._bytes_max} bytes of {self._what}.")
        return self._bytes_left

    def take(self, count: int) -> None:
        """Count bytes that have come."""
        self._bytes_left -= count
