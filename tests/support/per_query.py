"""Tables of queries for tests: made from ranks, and compared bit by bit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from glyphrank.metrics import per_query
from glyphrank.records import Direction, Ranks
from glyphrank.report.queries import PerQuery
from glyphrank.ties import TieRule


def table_of(
    ranks: Ranks,
    rule: TieRule = TieRule.pessimistic,
    slices: Mapping[str, Mapping[str, str]] | None = None,
    channels: Mapping[str, Ranks] | None = None,
) -> PerQuery:
    """Every query in a group of its own."""
    return PerQuery(
        ranks.query_ids,
        np.arange(len(ranks.query_ids)),
        slices or {},
        per_query(ranks, (1, 5), rule),
        {name: per_query(own, (1,), rule)["best_rank"] for name, own in (channels or {}).items()},
    )


def assert_same_tables(found: Mapping[Direction, PerQuery], wanted: Mapping[Direction, PerQuery]) -> None:
    """Equal to the last bit, NaN where there was NaN, in the same order."""
    assert list(found) == list(wanted)
    for direction, table in wanted.items():
        own = found[direction]
        assert own.query_ids == table.query_ids
        assert own.groups.tolist() == table.groups.tolist()
        assert own.groups.dtype == np.int64
        assert own.slices == table.slices
        for kept, made in ((own.values, table.values), (own.channels, table.channels)):
            assert list(kept) == list(made)
            for name, numbers in made.items():
                np.testing.assert_array_equal(kept[name], numbers, strict=True)
