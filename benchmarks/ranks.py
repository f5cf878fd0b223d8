"""Ranks of 2,727 x 2,727 scores in both directions, as TextVR has them, against sorting every row each way.

    python benchmarks/ranks.py [--repeats 7]

The floor sorts: a full `np.argsort` of each row of the scores, best first, and of each row of the transposed ones,
without looking anything up in it. Ours is the rank counter, with every tie counted and its order of ids, and one
relevant item a query. Scores are all different (`random`), or have 12 levels, so that each relevant item is level with
some 230 others (`tied`). Whether the ranks are those of a sorted row is checked once, apart. Every measurement has a
process of its own, which does the work once before the clock starts, floor and ours by turns; the table gives medians,
and the ratio is the median of the ratios of neighbours. Wanted: below a quarter, for either kind. Exit code 1 where
that is missed.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time

import numpy as np

from glyphrank.ranking import RankCounter, id_order
from glyphrank.records import Direction, FloatArray, Ranks
from turns import HEADER, by_turns, in_a_process, ratio, table

SIDE, LEVELS, BLOCK = 2_727, 12, 256
MOST_TIMES = 0.25
KINDS = ("random", "tied")


def main() -> int:
    """Measures by turns and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--measure", choices=["floor", "ours", "agreement"], help=argparse.SUPPRESS)
    parser.add_argument("--kind", choices=KINDS, default=KINDS[0], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure == "agreement":
        _check(_scores(options.kind))
        return 0
    if options.measure:
        print(json.dumps(_measure(options.measure, _scores(options.kind))))
        return 0
    print(f"{'':8}{'':8}{HEADER}")
    ratios = {kind: _compare(kind, options.repeats) for kind in KINDS}
    print(", ".join(f"{kind} ratio {times:.3f}" for kind, times in ratios.items()), f"(wanted < {MOST_TIMES})")
    return int(max(ratios.values()) >= MOST_TIMES)


def _compare(kind: str, repeats: int) -> float:
    """Prints two lines of the table and returns the ratio of ours to the floor."""
    in_a_process(__file__, "--measure", "agreement", "--kind", kind)
    measured = by_turns(__file__, ("floor", "ours"), repeats, "--kind", kind)
    print(table(measured, f"{kind:8}"))
    return ratio(measured, "ours", "floor")


def _measure(side: str, scores: FloatArray) -> dict[str, float]:
    work = _ours if side == "ours" else _floor
    work(scores)
    start = time.perf_counter()
    work(scores)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def _scores(kind: str) -> FloatArray:
    generator = np.random.default_rng(5)
    if kind == "random":
        return generator.random((SIDE, SIDE), dtype=np.float32)
    return generator.integers(0, LEVELS, (SIDE, SIDE)).astype(np.float32)


def _floor(scores: FloatArray) -> None:
    """Both directions, some rows at a time, so that the floor needs little memory."""
    for rows in (scores, scores.T):
        for start in range(0, SIDE, BLOCK):
            np.argsort(-np.ascontiguousarray(rows[start : start + BLOCK]), axis=1)


def _ours(scores: FloatArray) -> tuple[Ranks, Ranks]:
    queries, items = [f"caption-{number}" for number in range(SIDE)], [f"clip-{number}" for number in range(SIDE)]
    found = []
    for direction, asking, gallery, rows in (
        (Direction.t2v, queries, items, scores),
        (Direction.v2t, items, queries, scores.T),
    ):
        relevant = {name: {other: 1.0} for name, other in zip(asking, gallery, strict=True)}
        counter = RankCounter(direction, asking, gallery, relevant, 0)
        counter.add(np.arange(SIDE), rows)
        found.append(counter.finish())
    return found[0], found[1]


def _check(scores: FloatArray) -> None:
    """Stops where a rank is not what sorting whole rows gives."""
    for ranks, rows in zip(_ours(scores), (scores, scores.T), strict=True):
        order = id_order(ranks.item_ids)
        for query, row in enumerate(rows):
            by_place = np.lexsort((order, -row))
            place = int(np.flatnonzero(by_place == query)[0])
            if ranks.higher[query] + ranks.before[query] != place or ranks.tied[query] != np.sum(row == row[query]):
                raise RuntimeError(f"{ranks.query_ids[query]} has rank {place + 1}, and it was counted otherwise")


if __name__ == "__main__":
    sys.exit(main())
