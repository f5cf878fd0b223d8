"""Ranks that give a published table to its last decimal: BGE-M3 (dense) on SDS KoPub VDR, by type of query."""

from __future__ import annotations

import numpy as np
import pytest

from glyphrank.impossible import contradictions
from glyphrank.metrics import evaluate, sliced
from glyphrank.records import Direction, Ranks
from glyphrank.ties import TieRule

CUTOFFS = (1, 3, 5, 10)
QUERIES = {"text": 103, "visual": 161, "cross": 336}
AT = {
    "text": (41, 20, 12, 3, 6, 1, 5, 0, 0, 0),
    "visual": (46, 24, 17, 12, 5, 2, 0, 14, 0, 0),
    "cross": (161, 68, 20, 18, 9, 0, 14, 0, 0, 0),
}
"""How many queries find their page at rank 1, 2, ... 10; the others stand at 11. Recall fixes the sums only."""
TABLE = {
    "all": (0.413, 0.682, 0.770, 0.830, 0.572, 0.609, 0.628),
    "cross": (0.479, 0.741, 0.821, 0.863, 0.637, 0.670, 0.684),
    "text": (0.398, 0.709, 0.796, 0.854, 0.579, 0.614, 0.634),
    "visual": (0.286, 0.540, 0.646, 0.745, 0.433, 0.477, 0.509),
}
"""Recall at 1, 3, 5 and 10, nDCG at 3, 5 and 10."""
NAMES = [f"hit_rate_at_{k}" for k in CUTOFFS] + [f"ndcg_at_{k}" for k in CUTOFFS[1:]]


def _ranks() -> tuple[Ranks, dict[str, str]]:
    """600 queries with a page each in a gallery of 1,000, and their types."""
    places = [
        np.repeat(np.arange(1, 12), [*AT[kind], count - sum(AT[kind])]).astype(np.int64)
        for kind, count in QUERIES.items()
    ]
    kinds = [kind for kind, count in QUERIES.items() for _ in range(count)]
    names = tuple(f"query-{row}" for row in range(len(kinds)))
    one = np.ones(len(names), dtype=np.int64)
    ranks = Ranks(
        direction=Direction.t2v,
        query_ids=names,
        item_ids=tuple(f"page_{number}" for number in range(1000)),
        query=np.arange(len(names), dtype=np.int64),
        item=np.arange(len(names), dtype=np.int64),
        gain=one.astype(np.float64),
        higher=np.concatenate(places) - 1,
        tied=one,
        before=one - 1,
        retrieved=one.astype(np.bool_),
    )
    return ranks, dict(zip(names, kinds, strict=True))


@pytest.mark.parametrize("rule", list(TieRule))
def test_the_table_of_bge_m3_comes_out_to_three_decimals(rule: TieRule) -> None:
    ranks, kinds = _ranks()
    found = {"all": evaluate(ranks, CUTOFFS, rule), **sliced(ranks, CUTOFFS, rule, kinds)}
    assert {row: found[row]["queries"] for row in QUERIES} == QUERIES
    for row, wanted in TABLE.items():
        assert tuple(round(found[row][name], 3) for name in NAMES) == wanted
        assert [found[row][f"recall_at_{k}"] for k in CUTOFFS] == [found[row][f"hit_rate_at_{k}"] for k in CUTOFFS]
        assert found[row]["ndcg_at_1"] == found[row]["hit_rate_at_1"]


@pytest.mark.parametrize("row", TABLE)
def test_the_table_of_bge_m3_is_possible(row: str) -> None:
    recalls = dict(zip(CUTOFFS, TABLE[row][:4], strict=True))
    assert contradictions(recalls, dict(zip(CUTOFFS[1:], TABLE[row][4:], strict=True)), 3) == []
