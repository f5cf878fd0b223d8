"""Small finished runs for tests of comparisons: rows of scores become a run with its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from glyphrank.digests import digest_json, digest_text
from glyphrank.grouping import connected
from glyphrank.metrics import evaluate, per_query, prefix
from glyphrank.ranking import RankCounter, reverse
from glyphrank.records import Direction, Ranks
from glyphrank.report.finished import Finished
from glyphrank.report.queries import PerQuery
from glyphrank.report.results import Result, keep
from glyphrank.ties import TieRule
from tracked_runs import report_with

CUTOFFS = (1, 3, 5, 10)
Relevant = Mapping[str, Mapping[str, float]]


def finished(
    name: str,
    scores: Mapping[str, Sequence[float]],
    relevant: Relevant,
    ties: TieRule = TieRule.pessimistic,
    directions: Sequence[Direction] = (Direction.t2v,),
    **changes: Any,
) -> Finished:
    """A run whose queries score items as given; items are called a, b, c, ..., and queries are grouped by item.

    Args:
        changes: fields of the report; `protocol` and `slices_of_queries` (field -> query -> value) beside.
    """
    slices = changes.pop("slices_of_queries", {})
    items = [chr(ord("a") + place) for place in range(len(next(iter(scores.values()))))]
    matrix = np.array(list(scores.values()), dtype=np.float32)
    ranks = {way: _ranks(way, list(scores), items, relevant, matrix) for way in directions}
    protocol = {
        "cutoffs": list(CUTOFFS),
        "directions": [way.value for way in directions],
        "ties": ties.value,
        "primary": "ndcg_at_10",
        "group": "item",
        **changes.pop("protocol", {}),
    }
    evaluation = {
        "queries": digest_json(list(scores)),
        "items": digest_json(items),
        "relevance": digest_json({query: dict(gains) for query, gains in relevant.items()}),
        "protocol": protocol,
    }
    counted = {way: evaluate(own, CUTOFFS, ties) for way, own in ranks.items()}
    report = report_with(
        identity=changes.pop("identity", digest_text(name)),
        metrics={prefix(way) + metric: value for way in counted for metric, value in counted[way].items()},
        counts={"queries": len(scores), "items": len(items), "failed_items": 0},
        evaluation=evaluation,
        lineage={"dataset": "f1" * 16, "lexical": digest_text(name), "sources": "5c" * 16},
        choices={"dataset": "two_pages", "encoder@lexical": name},
    )
    queries = {way: _table(own, relevant, ties, slices) for way, own in ranks.items()}
    return Finished(name, replace(report, **changes), ranks, queries)


def from_ranks(name: str, ranks: Sequence[int], items: int = 20, **changes: Any) -> Finished:
    """A run in which query `q0`, `q1`, ... finds its own item (`a`, `b`, ...) at the given rank of `items`."""
    rows = {}
    for query, rank in enumerate(ranks):
        others = iter(range(items))
        order = [
            query if place == rank - 1 else next(item for item in others if item != query) for place in range(items)
        ]
        row = np.zeros(items)
        row[order] = np.arange(items, 0, -1)
        rows[f"q{query}"] = row.tolist()
    relevant = {f"q{query}": {chr(ord("a") + query): 1.0} for query in range(len(ranks))}
    return finished(name, rows, relevant, **changes)


def kept(run: Finished, results: Path, rule: TieRule = TieRule.pessimistic) -> Path:
    """The folder of a result that holds the run."""
    found = run.ranks[Direction.t2v]
    relevant = {
        found.query_ids[query]: {found.item_ids[item]: gain}
        for query, item, gain in zip(found.query.tolist(), found.item.tolist(), found.gain.tolist(), strict=True)
    }
    return keep(results, Result(run.report, run.ranks, run.queries, relevant, rule))


def _ranks(way: Direction, queries: Sequence[str], items: Sequence[str], relevant: Relevant, scores: Any) -> Ranks:
    if way is Direction.v2t:
        queries, items, relevant, scores = items, queries, reverse(relevant), scores.T
    counter = RankCounter(way, queries, items, relevant, 10)
    counter.add(np.arange(len(queries)), np.ascontiguousarray(scores))
    return counter.finish()


def _table(ranks: Ranks, relevant: Relevant, rule: TieRule, slices: Mapping[str, Mapping[str, str]]) -> PerQuery:
    judged = relevant if ranks.direction is Direction.t2v else reverse(relevant)
    own = {field: values for field, values in slices.items() if values.keys() & set(ranks.query_ids)}
    return PerQuery(ranks.query_ids, connected(ranks.query_ids, judged), own, per_query(ranks, CUTOFFS, rule), {})
