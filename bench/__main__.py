"""Measure the pipeline against the physical floor: `python -m bench [NAME ...]`.

Every figure is a ratio of paired runs on one machine, taken in turn: what else the machine does hits both.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench import acknowledge, latency, memory, micropub, pages, ready, throughput

BENCHES: dict[str, Callable[[Path], None]] = {
    "acknowledge": acknowledge.main,
    "ready": ready.main,
    "throughput": throughput.main,
    "latency": latency.main,
    "memory": memory.main,
    "pages": pages.main,
    "micropub": micropub.main,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*BENCHES, []], help="which to run; all by default")
    names = parser.parse_args().names or list(BENCHES)
    for name in names:
        with tempfile.TemporaryDirectory(prefix="vernier-bench-", dir=Path.cwd()) as directory:
            print(f"\n== {name}", flush=True)
            BENCHES[name](Path(directory))


main()
