"""Where the time of a cell goes that loads, multiplies and ranks cached vectors (`others` of `cached_cell.py`).

    python benchmarks/cached_cell_parts.py [--cells 9] [--queries 600] [--items 40781]

The functions behind each part are timed where they are called, in one process over a sweep whose cells alternate
between two encoders with cached vectors; parts do not overlap. `Hydra` is all between the end of one cell's job and the
beginning of the next one's: composing, its files and its log. The first two cells are left out. Medians in
milliseconds; run it on a quiet machine.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import pkgutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import cached_parts
from cached_cell import ENCODERS, arguments

PARTS = {
    "shards: read, checksum, gather": ("glyphrank.cache._Session.fetch",),
    "product, in tiles": ("glyphrank.indexes.exact._Searcher.rows",),
    "exact ranks and lists of 100": ("glyphrank.ranking.RankCounter.add",),
    "intervals": ("glyphrank.reporting.uncertainty",),
    "run.trec": ("glyphrank.report.results.write_run",),
    "other files of results": tuple(
        f"glyphrank.report.results.{name}" for name in ("write_ranks", "write_queries", "write_ranked", "_write_report")
    ),
    "MLflow": tuple(f"glyphrank.tracking.run.MlflowRun.{name}" for name in ("__init__", "begin", "log", "finish")),
    "table": ("glyphrank.report.table.show",),
}
JOB = "glyphrank.job.job"


def main() -> None:
    """Measures and prints the parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=9)
    parser.add_argument("--queries", type=int, default=600)
    parser.add_argument("--items", type=int, default=40_781)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cached_parts.write_corpus(folder / "corpus", options.queries, options.items)
        cached_parts.write_choice(folder / "choices")
        _sweep(folder, 2)  # fills the cache
        spent: list[dict[str, float]] = [defaultdict(float)]
        for part, names in PARTS.items():
            for name_of_function in names:
                _time(name_of_function, part, spent)
        _time(JOB, "job", spent, ends=True)
        cached_parts.began.clear()
        _sweep(folder, options.cells)
    whole = [1000 * (end - begin) for begin, end in zip(cached_parts.began, cached_parts.began[1:], strict=False)]
    shown = {part: statistics.median(1000 * cell[part] for cell in spent[2 : len(whole)]) for part in PARTS}
    shown["Hydra"] = statistics.median(
        total - 1000 * cell["job"] for total, cell in list(zip(whole, spent, strict=False))[2:]
    )
    total = statistics.median(whole[2:])
    for part, milliseconds in {**shown, "the rest": total - sum(shown.values()), "a cell": total}.items():
        print(f"{part:32}{milliseconds:8.0f}")


def _sweep(folder: Path, cells: int) -> None:
    from glyphrank.__main__ import run

    with (
        tempfile.TemporaryDirectory(dir=folder) as outputs,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(sys.stderr),
    ):
        code = run([*arguments(cells, ENCODERS), f"paths.outputs={outputs}"])
    if code:
        raise RuntimeError(f"the sweep ended with {code}")


def _time(name: str, part: str, spent: list[dict[str, float]], ends: bool = False) -> None:
    """Puts a function in the place of another that also adds its seconds to the part in the last of `spent`.

    Args:
        name: module, class and function; a function is replaced in its module, a method in its class.
        ends: whether a new cell begins behind it.
    """
    place, _, function = name.rpartition(".")
    holder = pkgutil.resolve_name(place)
    timed = getattr(holder, function)

    @functools.wraps(timed)
    def around(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return timed(*args, **kwargs)
        finally:
            spent[-1][part] += time.perf_counter() - start
            if ends:
                spent.append(defaultdict(float))

    setattr(holder, function, around)


if __name__ == "__main__":
    main()
