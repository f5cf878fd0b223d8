"""From rows of scores to ranks: where every relevant item stands, by counting, with its ties; and the top of each list.

Nothing is sorted as a whole. The order of equal scores is trec_eval's on our own files: ids descending, as `run.trec`
holds them (published form, white space and `%` escaped), compared byte by byte in UTF-8 (so `p_9` stands before
`p_10`); position in the gallery never matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glyphrank.ids import nfc
from glyphrank.records import BoolArray, Direction, IntArray, Ranks, Scores
from glyphrank.trec import escaped


class RankCounter:
    """Takes blocks of rows in any order, every query once, and gives the ranks of all relevant items.

    Args:
        direction: which side asks; only carried along.
        query_ids: all q queries.
        item_ids: the gallery, n items.
        relevant: query id -> {item id: gain}, gains above 0; ids are matched in NFC.
        depth: how many items of each list are kept, 0 for none.

    Raises:
        ValueError: relevance names an unknown query or item, or a gain is not above 0.
    """

    def __init__(
        self,
        direction: Direction,
        query_ids: Sequence[str],
        item_ids: Sequence[str],
        relevant: Mapping[str, Mapping[str, float]],
        depth: int,
    ) -> None:
        self._direction = direction
        self._query_ids = tuple(query_ids)
        self._item_ids = tuple(item_ids)
        self._depth = min(depth, len(self._item_ids))
        self._query, self._item, self._gain = _pairs(self._query_ids, self._item_ids, relevant)
        self._starts = np.searchsorted(self._query, np.arange(len(self._query_ids) + 1))
        self._order = id_order([escaped(name) for name in self._item_ids])
        self._counts = np.zeros((3, len(self._query)), dtype=np.int64)
        self._retrieved: BoolArray = np.zeros(len(self._query), dtype=np.bool_)
        self._top: list[tuple[IntArray, NDArray[Any]] | None] = [None] * len(self._query_ids)
        self._added = np.zeros(len(self._query_ids), dtype=np.bool_)

    def add(self, queries: IntArray, rows: Scores) -> None:
        """Counts in a block of scores.

        Args:
            queries: (b,) index into the query ids.
            rows: (b, n) float32 or float64, compared as they are; -inf for what was not retrieved.

        Raises:
            ValueError: shapes disagree, a query was added before, or a score is NaN.
        """
        if rows.shape != (len(queries), len(self._item_ids)):
            raise ValueError(
                f"rows of shape {rows.shape} for {len(queries)} queries and {len(self._item_ids)} items; wanted "
                f"{(len(queries), len(self._item_ids))}"
            )
        for query, row in zip(queries.tolist(), np.ascontiguousarray(rows), strict=True):
            if self._added[query]:
                raise ValueError(f"the query {self._query_ids[query]!r} was ranked before; wanted every query once")
            if np.isnan(row.max(initial=-np.inf)):
                raise ValueError(f"the query {self._query_ids[query]!r} has a score that is NaN; wanted numbers")
            self._added[query] = True
            pairs = range(self._starts[query], self._starts[query + 1])
            for pair in pairs:
                self._retrieved[pair], self._counts[:, pair] = stand(row, int(self._item[pair]), self._order)
            if self._depth:
                self._top[query] = best(row, self._depth, self._order)

    def finish(self) -> Ranks:
        """The ranks of all queries; a ValueError names one that was never added."""
        if not self._added.all():
            missing = self._query_ids[int(np.argmin(self._added))]
            raise ValueError(f"{np.sum(~self._added)} queries were never ranked, {missing!r} among them; wanted all")
        higher, tied, before = self._counts
        return Ranks(
            direction=self._direction,
            query_ids=self._query_ids,
            item_ids=self._item_ids,
            query=self._query,
            item=self._item,
            gain=self._gain,
            higher=higher,
            tied=tied,
            before=before,
            retrieved=self._retrieved,
            top=[top for top in self._top if top is not None],
        )


def reverse(relevant: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Relevance with the sides exchanged: item id -> {query id: gain}."""
    turned: dict[str, dict[str, float]] = {}
    for query, gains in relevant.items():
        for item, gain in gains.items():
            turned.setdefault(item, {})[query] = gain
    return turned


def id_order(ids: Sequence[str]) -> IntArray:
    """For each id its place, from 0, when all are sorted in descending order of their UTF-8 bytes; (n,) int64.

    Args:
        ids: as a run file holds them (`trec.escaped`), neither decoded nor normalised, or trec_eval would disagree.
    """
    keys = [name.encode("utf-8", "surrogatepass") for name in ids]
    order = np.empty(len(keys), dtype=np.int64)
    order[sorted(range(len(keys)), key=keys.__getitem__, reverse=True)] = np.arange(len(keys))
    return order


def stand(row: Scores, item: int, order: IntArray) -> tuple[bool, tuple[int, int, int]]:
    """Where one item of a row stands.

    Args:
        row: (n,) scores, -inf for what was not retrieved.
        item: its number in the row.
        order: (n,) from `id_order`.

    Returns:
        Whether it was retrieved, and how many are scored higher, level with it (itself included), and level but
        before it in the order of ids; zeros where it was not retrieved.
    """
    score = row[item]
    if score == -np.inf:
        return False, (0, 0, 0)
    level = row == score
    tied = int(np.count_nonzero(level))
    before = int(np.count_nonzero(order[level] < order[item])) if tied > 1 else 0
    return True, (int(np.count_nonzero(row > score)), tied, before)


def best(row: Scores, depth: int, order: IntArray) -> tuple[IntArray, NDArray[Any]]:
    """The best `depth` retrieved items of a row (0 <= depth <= n) and their scores as they are, best first.

    All that are level with the last one compete for the last places by id, so a shorter list is always the beginning
    of a longer one.
    """
    if depth == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=row.dtype)
    last = np.partition(row, len(row) - depth)[len(row) - depth]
    above = np.flatnonzero(row > last)
    level = np.flatnonzero(row == last) if last > -np.inf else above[:0]
    chosen = np.concatenate([above, level[np.argsort(order[level])][: depth - len(above)]])
    chosen = chosen[np.lexsort((order[chosen], -row[chosen]))]
    return chosen, row[chosen]


def _pairs(
    query_ids: Sequence[str], item_ids: Sequence[str], relevant: Mapping[str, Mapping[str, float]]
) -> tuple[IntArray, IntArray, NDArray[np.float64]]:
    """Every (query, relevant item) as indices, with its gain, by query and then by item."""
    queries, items = _positions(query_ids), _positions(item_ids)
    found: list[tuple[int, int, float]] = []
    for query, gains in relevant.items():
        for item, gain in gains.items():
            if nfc(query) not in queries or nfc(item) not in items:
                raise ValueError(f"relevance of {item!r} to {query!r}: one of them is not among those ranked")
            if not gain > 0:
                raise ValueError(f"the gain of {item!r} for {query!r} is {gain}; wanted above 0")
            found.append((queries[nfc(query)], items[nfc(item)], float(gain)))
    found.sort()
    return (
        np.array([pair[0] for pair in found], dtype=np.int64),
        np.array([pair[1] for pair in found], dtype=np.int64),
        np.array([pair[2] for pair in found], dtype=np.float64),
    )


def _positions(ids: Iterable[str]) -> dict[str, int]:
    return {nfc(name): position for position, name in enumerate(ids)}
