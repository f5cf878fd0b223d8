"""Small rankings for tests: rows of scores with letters for items become Ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from glyphrank.ranking import RankCounter
from glyphrank.records import Direction, Ranks

MISS = float("-inf")


def rank(
    rows: Mapping[str, Sequence[float]],
    items: Sequence[str],
    relevant: Mapping[str, Mapping[str, float]],
    depth: int = 10,
) -> Ranks:
    """Ranks of queries whose scores against `items` are given, added in one block."""
    counter = RankCounter(Direction.t2v, list(rows), items, relevant, depth)
    counter.add(np.arange(len(rows)), np.array(list(rows.values()), dtype=np.float32).reshape(len(rows), len(items)))
    return counter.finish()


def top_ids(ranks: Ranks, query: int = 0) -> list[str]:
    """Ids of a query's top list, best first."""
    return [ranks.item_ids[item] for item in ranks.top[query][0]]
