"""A worker that renders on a thread of its own until it is killed: prints the process ids of server and child."""

import json
import signal
import sys
import threading

import psutil

from vernier.media.child import client
from vernier.media.conf import MediaSettings
from vernier.media.render import open_renderer
from vernier.media.variants import DEFAULT_VARIANTS


def work() -> None:
    with open_renderer(
        "hang", image_type="jpeg", variants=DEFAULT_VARIANTS, settings=MediaSettings(), on_tick=tell
    ) as renderer:
        renderer.measure()


def tell() -> None:
    server = psutil.Process().children()[0]
    children = server.children()
    if children:
        sys.stdout.write(json.dumps([server.pid, children[0].pid]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    client.SERVER = "tests.media.hostile_server"
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
