"""Recall, nDCG and all else of 10,000 queries with 100 hits each, query by query, against pytrec_eval.

    python benchmarks/lists.py [--repeats 5]

Both sides begin with our own arrays: numbers and scores of the listed items, judged pairs, and the ids. Ours turns them
into ranks (the order of ids, with their escapes, included) and these into all that `per_query` gives; pytrec_eval gets
dicts made of the same arrays and computes recall and nDCG at the same cut-offs, no more. Lists come best first, as any
index gives them (`sorted`), and in any order (`shuffled`). Whether the numbers agree is checked once, apart.
Every measurement has a process of its own, theirs and ours by turns; the table gives medians, and the ratio is the
median of the ratios of neighbours. Wanted: below 1. Exit code 1 where that is missed.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glyphrank.metrics import per_query
from glyphrank.ranked_lists import Lists, Pairs, rank_lists
from glyphrank.ranking import id_order
from glyphrank.records import FloatArray, IntArray
from glyphrank.ties import TieRule
from glyphrank.trec import escaped
from turns import HEADER, by_turns, in_a_process, ratio, table

QUERIES, HITS, ITEMS, MOST_JUDGED = 10_000, 100, 40_781, 5
CUTOFFS = (1, 3, 5, 10)
MOST_TIMES = 1.0
MEASURES = {"recall": "recall", "ndcg_cut": "ndcg"}


@dataclass(frozen=True)
class Given:
    """What both sides begin with: (q, 100) items and scores, (m,) judged pairs with their gains, and ids."""

    items: IntArray
    scores: FloatArray
    query: IntArray
    item: IntArray
    gain: IntArray
    query_ids: list[str]
    item_ids: list[str]


def main() -> int:
    """Measures by turns and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--measure", choices=["theirs", "ours", "agreement"], help=argparse.SUPPRESS)
    parser.add_argument("--shuffled", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure == "agreement":
        _check(_given(shuffled=True))
        return 0
    if options.measure:
        print(json.dumps(_measure(options.measure, options.shuffled)))
        return 0
    in_a_process(__file__, "--measure", "agreement")
    print(f"{'':10}{'':8}{HEADER}")
    ratios = {kind: _compare(kind, options.repeats) for kind in ("sorted", "shuffled")}
    print(", ".join(f"{kind} ratio {times:.2f}" for kind, times in ratios.items()), f"(wanted < {MOST_TIMES})")
    return int(max(ratios.values()) >= MOST_TIMES)


def _compare(kind: str, repeats: int) -> float:
    """Prints two lines of the table and returns the ratio of ours to theirs."""
    shuffled = ["--shuffled"] if kind == "shuffled" else []
    measured = by_turns(__file__, ("theirs", "ours"), repeats, *shuffled)
    print(table(measured, f"{kind:10}"))
    return ratio(measured, "ours", "theirs")


def _measure(side: str, shuffled: bool) -> dict[str, float]:
    import pytrec_eval  # noqa: F401  (imported before the clock starts)

    given = _given(shuffled)
    start = time.perf_counter()
    if side == "ours":
        _ours(given)
    else:
        _theirs(given)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def _given(shuffled: bool) -> Given:
    """Lists of distinct items with some ties, and 1 to 5 judged items a query, of which about half are listed."""
    generator = np.random.default_rng(11)
    start, step = generator.integers(0, ITEMS, (QUERIES, 1)), generator.integers(1, 400, (QUERIES, 1))
    items = (start + step * np.arange(HITS)) % ITEMS  # no step fits into so many items 100 times
    levels = -np.sort(-generator.integers(0, 3000, (QUERIES, HITS)), axis=1)
    scores: FloatArray = levels.astype(np.float32) / np.float32(3000)
    if shuffled:
        places = generator.permuted(np.tile(np.arange(HITS), (QUERIES, 1)), axis=1)
        items, scores = np.take_along_axis(items, places, 1), np.take_along_axis(scores, places, 1)
    query = np.repeat(np.arange(QUERIES), generator.integers(1, MOST_JUDGED + 1, QUERIES))
    listed = items[query, generator.integers(0, HITS, len(query))]
    item = np.where(generator.random(len(query)) < 0.5, listed, generator.integers(0, ITEMS, len(query)))
    pairs = np.unique(np.stack([query, item]), axis=1)
    gain: IntArray = generator.integers(1, 4, pairs.shape[1:])
    query_ids, item_ids = (
        [f"query-{number}" for number in range(QUERIES)],
        [f"문서_{number}" for number in range(ITEMS)],
    )
    return Given(items, scores, pairs[0], pairs[1], gain, query_ids, item_ids)


def _ours(given: Given) -> dict[str, NDArray[np.float64]]:
    order = id_order([escaped(name) for name in given.item_ids])
    starts = np.arange(0, given.items.size + 1, HITS)
    lists = Lists(starts, given.items.ravel(), given.scores.ravel(), order[given.items].ravel())
    pairs = Pairs(given.query, given.item, given.gain.astype(np.float64))
    return per_query(rank_lists(given.query_ids, given.item_ids, lists, pairs), CUTOFFS, TieRule.document_id)


def _theirs(given: Given) -> dict[str, dict[str, float]]:
    import pytrec_eval

    names = given.item_ids
    run = {
        query: {names[item]: score for item, score in zip(items, scores, strict=True)}
        for query, items, scores in zip(given.query_ids, given.items.tolist(), given.scores.tolist(), strict=True)
    }
    qrels: dict[str, dict[str, int]] = {query: {} for query in given.query_ids}
    for query, item, gain in zip(given.query.tolist(), given.item.tolist(), given.gain.tolist(), strict=True):
        qrels[given.query_ids[query]][names[item]] = gain
    cuts = ",".join(map(str, CUTOFFS))
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {f"{measure}.{cuts}" for measure in MEASURES})
    found: dict[str, dict[str, float]] = evaluator.evaluate(run)
    return found


def _check(given: Given) -> None:
    """Stops where the two sides disagree."""
    ours, theirs = _ours(given), _theirs(given)
    for measure, name in MEASURES.items():
        for k in CUTOFFS:
            wanted = [theirs[query][f"{measure}_{k}"] for query in given.query_ids]
            np.testing.assert_allclose(ours[f"{name}_at_{k}"], wanted, rtol=0, atol=1e-9)


if __name__ == "__main__":
    sys.exit(main())
