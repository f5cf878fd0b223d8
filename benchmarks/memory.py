"""Peak memory of reading and encoding 200 and 2,000 pages: it must not grow with the corpus.

    python benchmarks/memory.py [--counts 200 2000]

Pages of 620 x 877 pixels are decoded by two processes, encoded by a tiny open_clip model and read by an engine that
only counts dark pixels, everything on a cold cache. Each count has a process of its own; its peak is that of the
process and of the two that decode. Wanted: at most 40 MB between the smallest and the largest count, of which the
results themselves (vectors, digests, ids) take a few hundred bytes a page. Exit code 1 where that is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import inputs
from glyphrank.reading import read_items
from glyphrank.sight import Sight
from glyphrank.visual import encode_frames
from peak import peak_megabytes

MOST_MEGABYTES = 40.0


def main() -> int:
    """Measures each count and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", type=int, nargs="+", default=[200, 2000])
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(_measure(int(options.measure[0]), Path(options.measure[1]))))
        return 0
    peaks = []
    with tempfile.TemporaryDirectory() as folder:
        inputs.pages(Path(folder) / "pages", max(options.counts), 620, 877)
        for count in options.counts:
            command = [sys.executable, __file__, "--measure", str(count), folder]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            peaks.append(json.loads(done.stdout.splitlines()[-1]))
            print(f"{count:6} pages: peak {peaks[-1]:.0f} MB", flush=True)
    growth = peaks[-1] - peaks[0]
    print(f"growth {growth:.0f} MB (wanted <= {MOST_MEGABYTES:.0f})")
    return int(growth > MOST_MEGABYTES)


def _measure(count: int, folder: Path) -> float:
    items = inputs.pages(folder / "pages", count, 620, 877)
    encoder = inputs.encoder(folder, "tiny")
    with tempfile.TemporaryDirectory(dir=folder) as cold:
        runtime = inputs.runtime(Path(cold))
        with Sight(inputs.SAMPLER, runtime) as sight:
            encode_frames(encoder, items, sight, runtime)
            read_items(inputs.Dark(), items, sight, runtime)
            return peak_megabytes()


if __name__ == "__main__":
    sys.exit(main())
