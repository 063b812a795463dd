"""A fork server on a machine that has no room for another process."""

import errno
import os

from vernier.media.child import server


def refuse() -> int:
    raise OSError(errno.EAGAIN, "no room")


if __name__ == "__main__":
    os.fork = refuse
    server.main()
