"""Processes that start together on a cold cache: how often each input is read, and how long until all are done.

    python benchmarks/sharing.py [--pages 160] [--seconds 0.1] [--processes 1 2 4]

Every process reads the same generated pages with an engine that takes `--seconds` a page without using a core, as a
remote service or an accelerator would; they share one cache. Wanted: every page read once between them, readings
equal, and a time that falls with the number of processes. Seconds count from the start of the first to the end of the
last and include starting Python. Exit code 1 where a page is read twice or readings differ.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import inputs
from glyphrank.digests import digest_json
from glyphrank.reading import read_items
from glyphrank.sight import Sight


def main() -> int:
    """Measures each number of processes and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=160)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(_read(Path(options.measure[0]), Path(options.measure[1]), options))
        return 0
    print(f"{'processes':>10}{'seconds':>10}{'of one':>10}{'read':>8}{'distinct':>10}  readings")
    alone, good = 0.0, True
    readings: set[str] = set()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs.pages(folder / "pages", options.pages, 310, 438)
        for count in options.processes:
            start = time.perf_counter()
            log = folder / f"{count}.log"
            size = ["--pages", str(options.pages), "--seconds", str(options.seconds)]
            command = [sys.executable, __file__, *size, "--measure", name, str(log)]
            running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
            found = {process.communicate()[0].strip() for process in running}
            seconds = time.perf_counter() - start
            alone, readings = alone or seconds, readings | found
            read = log.read_text().split()
            good &= len(read) == len(set(read)) == options.pages and len(readings) == 1
            same = "equal" if len(readings) == 1 else "DIFFER"
            print(
                f"{count:10}{seconds:10.1f}{seconds / alone:10.2f}{len(read):8}{len(set(read)):10}  {same}", flush=True
            )
    return int(not good)


def _read(folder: Path, log: Path, options: argparse.Namespace) -> str:
    items = inputs.pages(folder / "pages", options.pages, 310, 438)
    runtime = inputs.runtime(folder / log.stem, workers=1)
    with Sight(inputs.SAMPLER, runtime) as sight:
        readings = read_items(inputs.Patient(options.seconds, str(log)), items, sight, runtime)
    return digest_json([[line.text for line in reading.lines] for reading in readings])


if __name__ == "__main__":
    sys.exit(main())
