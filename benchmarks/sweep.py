"""A sweep of 24 cells on a cold cache, against its distinct stages called once each and the cost of cached cells.

    python benchmarks/sweep.py [--repeats 3] [--clips 60] [--cells 24]

`sample_clips` with two frames a clip, read by EasyOCR; 2 dense encoders (all-MiniLM-L6-v2 with another `max_length`), 3
transcripts, 4 settings of index and fusion, BM25 beside. `bare` calls our own functions once for each distinct piece of
work, on a cold cache: the dataset, the readings, the vectors of 2 x 3 transcripts, the tokens of 3, and those of the
queries. `cell` is what a cell costs in the same sweep once more, with other cut-offs and everything cached (the median
from the beginning of one to that of the next). Every side has a process of its own, by turns, and the time to import
what it uses is in it; the ratio is the median of the ratios of neighbours. Wanted: a sweep of at most 1.25 x bare +
cells x cell, ratio 1. Exit code 1 where that is missed. `--cells` takes the first of the 24.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import cached_parts
from turns import HEADER, by_turns, table

TIMES = 1.25
SIDES = ("bare", "sweep", "cell")
LENGTHS, CONFIDENCES = (64, 256), (0.1, 0.3, 0.5)
SETTINGS = {"index": ("exact", "faiss_hnsw"), "fusion": ("reciprocal_rank", "weighted_sum")}
SAME = (
    *("dataset=sample_clips", "ocr=easyocr_en", "transcript=confident", "encoder@text=minilm", "frames.count=2"),
    *("encoder@lexical=bm25_words", "metrics=clips"),
)


def main() -> int:
    """Measures by turns and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--clips", type=int, default=60, help="a multiple of 4")
    parser.add_argument("--cells", type=int, choices=(8, 24), default=24, help="8: one transcript")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", choices=SIDES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    same = ("--clips", str(options.clips), "--cells", str(options.cells))
    if options.measure:
        print(json.dumps(_measure(options)))
        return 0
    ratios: list[float] = []
    measured: dict[str, list[Mapping[str, float]]] = {side: [] for side in SIDES}
    for _ in range(options.repeats):
        with tempfile.TemporaryDirectory() as folder:
            turn = by_turns(__file__, SIDES, 1, *same, "--folder", folder)
        bare, sweep, cell = (turn[side][0]["seconds"] for side in SIDES)
        ratios.append(sweep / (TIMES * bare + options.cells * cell))
        for side in SIDES:
            measured[side] += turn[side]
    print(f"{'':8}{HEADER}")
    print(table(measured))
    print(f"ratio {statistics.median(ratios):.2f} (wanted <= 1)")
    return int(statistics.median(ratios) > 1)


def _measure(options: argparse.Namespace) -> dict[str, float]:
    confidences = CONFIDENCES if options.cells == 24 else CONFIDENCES[:1]
    overrides = [*SAME, f"dataset.clips={options.clips}"]
    start = time.perf_counter()
    if options.measure == "bare":
        seconds = _bare(options.folder, overrides, confidences)
    else:
        cutoffs = "[1,5,10,50]" if options.measure == "sweep" else "[1,5,10,20]"
        _sweep(options.folder, [*overrides, f"metrics.cutoffs={cutoffs}"], confidences)
        seconds = time.perf_counter() - start
    if options.measure == "cell":
        periods: list[float] = np.diff(cached_parts.began)[1:].tolist()
        seconds = statistics.median(periods)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "megabytes": peak}


def _sweep(folder: Path, overrides: Sequence[str], confidences: Sequence[float]) -> None:
    from glyphrank.__main__ import run

    swept = [f"text.max_length={_listed(LENGTHS)}", f"transcript.min_confidence={_listed(confidences)}"]
    swept += [f"{name}={_listed(values)}" for name, values in SETTINGS.items()]
    clock = "+hydra.callbacks.clock={_target_: cached_parts.Clock}"
    with contextlib.redirect_stdout(sys.stderr), contextlib.chdir(folder):
        code = run(["-m", *overrides, *swept, f"paths.outputs={folder / 'sweep'}", clock])
    if code:
        raise RuntimeError(f"the sweep ended with {code}")


def _listed(values: Sequence[object]) -> str:
    return ",".join(map(str, values))


def _bare(folder: Path, overrides: Sequence[str], confidences: Sequence[float]) -> float:
    """Seconds of every distinct piece of work, done once, by the functions that a run calls."""
    from glyphrank.composition import build_here
    from glyphrank.errors import ConfigError
    from glyphrank.reading import read_items
    from glyphrank.run import Run
    from glyphrank.sight import Sight
    from glyphrank.stages import encode_queries, encode_texts, tokenise

    place = f"paths.outputs={folder / 'bare'}"
    runs = [
        build_here(Run, [*overrides, place, f"text.max_length={length}", f"transcript.min_confidence={confidence}"])
        for confidence in confidences
        for length in LENGTHS
    ]
    start = time.perf_counter()
    first = runs[0]
    if first.ocr is None or first.lexical is None:
        raise ConfigError("the sweep reads no text; wanted an engine and words")
    task, runtime = first.dataset.load(first.runtime), first.runtime
    with Sight(first.frames, runtime) as sight:
        readings = read_items(first.ocr, task.items, sight, runtime)
    for number, run in enumerate(runs):
        texts = [text for reading in readings for text in run.transcript.write(reading)]
        queries = [run.transcript.query(query.text) for query in task.queries]
        if number % len(LENGTHS) == 0:
            tokenise(first.lexical.analyser, texts, runtime)
            tokenise(first.lexical.analyser, queries, runtime)
        if run.text is not None:
            encode_texts(run.text, texts, runtime)
            encode_queries(run.text, queries, runtime)
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
