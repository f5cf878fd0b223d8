"""One cell of 600 x 40,781 x 512, from given vectors to all metrics with their ties, against numpy's bare floor.

    python benchmarks/cell.py [--repeats 7]

The floor is the matrix product and `(scores > gold).sum(1)`, which gives ranks without ties. Ours is the code of a
run without its run file: distinct vectors, exact index, channel, rank counter, all metrics and their bounds. As in
SDS KoPub VDR, 1,419 of the items repeat another one; none of them is a query's relevant item. Not measured: reading
and encoding, the cache, fusion of several channels, the reverse direction, the lists of the run file, slices and
everything that is written. Every measurement has a process of its own, floor and ours by
turns; the table gives medians, and the ratio is the median of the ratios of neighbours. Wanted: at most 2, and a peak
of less than 600 MB. Exit code 1 where that is missed.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time

import numpy as np

from glyphrank.indexes.exact import Exact
from glyphrank.metrics import bounds, evaluate
from glyphrank.ranking import RankCounter
from glyphrank.records import Direction, FloatArray, IntArray, Vectors
from glyphrank.scoring import TILE, Channel, matrix
from glyphrank.ties import TieRule, tied_queries
from turns import HEADER, by_turns, ratio, table

QUERIES, ITEMS, WIDTH, REPEATED = 600, 40_781, 512, 1_419
CUTOFFS = (1, 3, 5, 10)
MOST_TIMES, MOST_MEGABYTES = 2.0, 600.0


def main() -> int:
    """Measures by turns and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--measure", choices=["floor", "ours"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(_measure(options.measure)))
        return 0
    measured = by_turns(__file__, ("floor", "ours"), options.repeats)
    times = ratio(measured, "ours", "floor")
    megabytes = max(result["megabytes"] for result in measured["ours"])
    print(f"{'':8}{HEADER}")
    print(table(measured))
    print(f"ratio {times:.2f} (wanted <= {MOST_TIMES}), peak {megabytes:.0f} MB (wanted < {MOST_MEGABYTES:.0f})")
    return int(times > MOST_TIMES or megabytes >= MOST_MEGABYTES)


def _measure(kind: str) -> dict[str, float]:
    queries, items, gold = _inputs()
    query_ids, item_ids = tuple(f"q{query}" for query in range(QUERIES)), tuple(f"i{item}" for item in range(ITEMS))
    relevant = {query_ids[query]: {item_ids[item]: 1.0} for query, item in enumerate(gold)}
    start = time.perf_counter()
    if kind == "floor":
        hits = _floor(queries, items, gold)
    else:
        hits = _ours(Vectors(query_ids, queries), Vectors(item_ids, items), relevant)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "megabytes": peak, "hits": hits}


def _inputs() -> tuple[FloatArray, FloatArray, IntArray]:
    """Unit vectors of queries and items, and each query's relevant item, which is a little like its query."""
    generator = np.random.default_rng(7)
    items = generator.standard_normal((ITEMS, WIDTH), dtype=np.float32)
    gold = generator.choice(ITEMS, QUERIES, replace=False)
    queries = generator.standard_normal((QUERIES, WIDTH), dtype=np.float32) + 0.2 * items[gold]
    repeats = generator.choice(np.setdiff1d(np.arange(ITEMS), gold), REPEATED, replace=False)
    items[repeats] = items[generator.choice(np.setdiff1d(np.arange(ITEMS), repeats), REPEATED)]
    for values in (queries, items):
        values /= np.sqrt(np.einsum("ij,ij->i", values, values))[:, None]
    return queries, items, gold


def _floor(queries: FloatArray, items: FloatArray, gold: IntArray) -> float:
    scores = queries @ items.T
    higher = (scores > scores[np.arange(len(gold)), gold][:, None]).sum(1)
    return float(np.mean(higher == 0))


def _ours(queries: Vectors, items: Vectors, relevant: dict[str, dict[str, float]]) -> float:
    asking, query_rows = matrix(queries)
    entries, columns = matrix(items)
    channel = Channel("visual", Exact().build(entries), asking.values, query_rows, columns)
    counter = RankCounter(Direction.t2v, queries.ids, items.ids, relevant, depth=0)
    start = 0
    for rows in channel.blocks(TILE):
        counter.add(np.arange(start, start + len(rows)), rows)
        start += len(rows)
    ranks = counter.finish()
    numbers = evaluate(ranks, CUTOFFS, TieRule.pessimistic)
    bounds(ranks, CUTOFFS)
    tied_queries(ranks)
    return numbers["hit_rate_at_1"]


if __name__ == "__main__":
    sys.exit(main())
