"""20 runs of 600 queries compared on 4 metrics, against `ranx.compare` with its t-test.

    python benchmarks/comparing.py [--repeats 5]

Both sides begin with our own arrays: for each run numbers and scores of 100 items a query, best first, and each query's
one relevant item; ranx gets dicts made of them. Ours gives values and, for each metric, the difference of every run
from the best with its bootstrap interval (10,000 resamples), the p-value of the randomisation test (10,000 exchanges)
and Holm's adjustment; ranx gives values and the p-value of a t-test for every pair. `tests only` leaves conversion and
counting out on both sides. For comparison stands what the command adds: 95 % intervals of all metrics of all runs
(`whole`, which is `compare.compare` for each of the four metrics, each time from the ranks).

ranx compiles itself at its first call, for half a minute and more, so all repeats share a process in which that is done
before the clock starts; the two sides take turns, the table gives medians, and the ratio is the median of the ratios of
neighbours. Peak memory is that of a process that does ours alone. Whether the values agree is checked once. Wanted:
below 0.5. Exit code 1 where that is missed.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from glyphrank.answers import Answers, against, answers_of
from glyphrank.compare import compare
from glyphrank.metrics import evaluate, per_query
from glyphrank.outcome import Report
from glyphrank.ranked_lists import Lists, Pairs, rank_lists
from glyphrank.ranking import id_order
from glyphrank.records import Direction, FloatArray, IntArray, Ranks
from glyphrank.report.finished import Finished
from glyphrank.report.queries import PerQuery
from glyphrank.ties import TieRule
from glyphrank.trec import escaped

RUNS, QUERIES, HITS, ITEMS = 20, 600, 100, 40_781
CUTOFFS, RULE = (1, 3, 5, 10), TieRule.document_id
METRICS = {
    "recall_at_10": "recall@10",
    "ndcg_at_10": "ndcg@10",
    "reciprocal_rank_at_10": "mrr@10",
    "hit_rate_at_1": "hit_rate@1",
}
MOST_TIMES = 0.5


@dataclass(frozen=True)
class Given:
    """What both sides begin with: (runs, q, 100) items and scores, best first; (q,) relevant items; ids."""

    items: IntArray
    scores: FloatArray
    gold: IntArray
    query_ids: list[str]
    item_ids: list[str]


def main() -> int:
    """Measures by turns and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--measure", choices=["turns", "peak"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure == "turns":
        print(json.dumps(_turns(options.repeats)))
        return 0
    if options.measure == "peak":
        _ours(_given())
        print(json.dumps({"megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
        return 0
    peak = _in_a_process("peak", options.repeats)["megabytes"]
    seconds = _in_a_process("turns", options.repeats)
    print(f"{'':22}{'median s':>10}{'least s':>10}")
    for name, values in seconds.items():
        print(f"{name:22}{statistics.median(values):10.3f}{min(values):10.3f}")
    ratios = [
        statistics.median(mine / other for mine, other in zip(seconds[ours], seconds[theirs], strict=True))
        for ours, theirs in (("ours", "ranx"), ("ours, tests only", "ranx, tests only"))
    ]
    print(f"ratio {ratios[0]:.2f} (wanted < {MOST_TIMES}), of tests only {ratios[1]:.2f}; peak {peak:.0f} MB")
    return int(ratios[0] >= MOST_TIMES)


def _in_a_process(kind: str, repeats: int) -> Any:
    command = [sys.executable, __file__, "--measure", kind, "--repeats", str(repeats)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _turns(repeats: int) -> dict[str, list[float]]:
    """Seconds of every repeat of each side."""
    warnings.simplefilter("ignore")  # numba tells that ranx casts unsafely
    given = _given()
    _check(_ours(given)[0], _theirs(given)[2])  # compiles ranx, too
    found: dict[str, list[float]] = {}
    for _ in range(repeats):
        converted, compared, _report = _theirs(given)
        _answers, counted, tested = _ours(given)
        start = time.perf_counter()
        runs = [_finished(number, ranks) for number, ranks in enumerate(_ranks(given))]
        for metric in METRICS:
            compare(runs, metric)
        whole = time.perf_counter() - start
        measured = {
            "ranx": converted + compared,
            "ours": counted + tested,
            "ranx, tests only": compared,
            "ours, tests only": tested,
            "whole": whole,
        }
        for name, seconds in measured.items():
            found.setdefault(name, []).append(seconds)
    return found


def _given() -> Given:
    """Runs whose lists hold the relevant item at a place that is geometric, better from run to run, or nowhere."""
    generator = np.random.default_rng(5)
    start, step = (generator.integers(low, high, (RUNS, QUERIES, 1)) for low, high in ((0, ITEMS), (1, 400)))
    items = (start + step * np.arange(HITS)) % ITEMS  # no step fits into so many items 100 times
    gold = generator.integers(0, ITEMS, QUERIES)
    items[items == gold[:, None]] = ITEMS  # an item that no query wants
    skill = np.linspace(0.05, 0.25, RUNS)[:, None]
    place = generator.geometric(np.broadcast_to(skill, (RUNS, QUERIES))) - 1
    run, query = np.nonzero(place < HITS)
    items[run, query, place[run, query]] = gold[query]
    scores = -np.sort(-generator.random((RUNS, QUERIES, HITS)), axis=2).astype(np.float32)
    query_ids, item_ids = (
        [f"{kind}-{number}" for number in range(count)] for kind, count in (("q", QUERIES), ("p", ITEMS + 1))
    )
    return Given(items, scores, gold, query_ids, item_ids)


def _ranks(given: Given) -> list[Ranks]:
    order = id_order([escaped(name) for name in given.item_ids])
    starts = np.arange(0, QUERIES * HITS + 1, HITS)
    pairs = Pairs(np.arange(QUERIES), given.gold, np.ones(QUERIES))
    lists = (
        Lists(starts, items.ravel(), scores.ravel(), order[items].ravel())
        for items, scores in zip(given.items, given.scores, strict=True)
    )
    return [rank_lists(given.query_ids, given.item_ids, own, pairs) for own in lists]


def _ours(given: Given) -> tuple[list[Answers], float, float]:
    """What every run came to, the seconds for conversion and counting, and those for the tests."""
    start = time.perf_counter()
    ids = {Direction.t2v: given.query_ids}
    answers = [answers_of(_bare(ranks), ids, RULE) for ranks in _ranks(given)]
    middle = time.perf_counter()
    questions = [(metric, int(np.argmax([own.total[metric] for own in answers]))) for metric in METRICS]
    against(answers, questions, Direction.t2v, np.arange(QUERIES))
    return answers, middle - start, time.perf_counter() - middle


def _theirs(given: Given) -> tuple[float, float, Any]:
    """Seconds for conversion and for comparing, and ranx's report."""
    from ranx import Qrels, Run
    from ranx import compare as compare_runs

    start = time.perf_counter()
    names = given.item_ids
    qrels = Qrels({query: {names[item]: 1} for query, item in zip(given.query_ids, given.gold.tolist(), strict=True)})
    runs = [
        Run(
            {
                query: {names[item]: score for item, score in zip(own, values, strict=True)}
                for query, own, values in zip(given.query_ids, items.tolist(), scores.tolist(), strict=True)
            },
            name=str(number),
        )
        for number, (items, scores) in enumerate(zip(given.items, given.scores, strict=True))
    ]
    middle = time.perf_counter()
    report = compare_runs(qrels, runs, list(METRICS.values()), stat_test="student")
    return middle - start, time.perf_counter() - middle, report


def _check(answers: Sequence[Answers], report: Any) -> None:
    """Stops where the two sides disagree."""
    for number, own in enumerate(answers):
        for ours, theirs in METRICS.items():
            np.testing.assert_allclose(own.total[ours], report.results[str(number)][theirs], rtol=0, atol=1e-9)


def _bare(ranks: Ranks) -> Finished:
    """A run of which nothing is known but its ranks and how they are counted."""
    protocol = {"cutoffs": list(CUTOFFS), "ties": RULE.value}
    report = Report(
        identity="",
        task="",
        primary="ndcg_at_10",
        metrics={},
        bounds={},
        channels={},
        slices={},
        counts={"queries": QUERIES, "items": ITEMS},
        failures={},
        losses={},
        views={},
        listed={},
        tags={},
        lineage={},
        notes=(),
        config={},
        evaluation={"protocol": protocol},
    )
    return Finished("", report, {Direction.t2v: ranks}, {})


def _finished(number: int, ranks: Ranks) -> Finished:
    """A whole run, as `compare` takes it."""
    from dataclasses import replace

    bare = _bare(ranks)
    values = per_query(ranks, CUTOFFS, RULE)
    report = replace(bare.report, identity=str(number), metrics=evaluate(ranks, CUTOFFS, RULE))
    queries = PerQuery(ranks.query_ids, np.arange(QUERIES), {}, values, {})
    return replace(bare, name=str(number), report=report, queries={Direction.t2v: queries})


if __name__ == "__main__":
    sys.exit(main())
