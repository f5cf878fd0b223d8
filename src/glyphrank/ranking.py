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
from glyphrank.last_values import LastValue
from glyphrank.records import BoolArray, Direction, IntArray, Ranks, Scores
from glyphrank.trec_lines import all_escaped

_CELLS = 2**18
"""Scores that are compared at once, so that they stay in the processor's cache."""
_ACROSS = 4096
"""Queries at once where rows lie across memory: fewer would read it in pieces, for more than `_CELLS` is no room."""
_GATHERED = 256
"""Queries at once whose scores have to be copied there."""
_STRIPS = 32
"""Strips into which a row is cut to find its best scores among few."""
_TALL = 255
"""Items at once there, whose flags are summed in bytes."""

_Pairs = tuple[IntArray, IntArray, NDArray[np.float64]]
_last: dict[Direction, LastValue[tuple[_Pairs, IntArray]]] = {direction: LastValue() for direction in Direction}


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
        pairs, self._order = _judged(direction, self._query_ids, self._item_ids, relevant)
        self._query, self._item, self._gain = pairs
        self._starts = np.searchsorted(self._query, np.arange(len(self._query_ids) + 1))
        self._places = self._order.astype(np.min_scalar_type(len(self._item_ids)))  # narrow numbers compare faster
        self._counts = np.zeros((3, len(self._query)), dtype=np.int64)
        self._room = np.empty((2, max(_CELLS, len(self._item_ids))), dtype=np.bool_)
        self._retrieved: BoolArray = np.zeros(len(self._query), dtype=np.bool_)
        self._top: list[tuple[IntArray, NDArray[Any]] | None] = [None] * len(self._query_ids)
        self._added = np.zeros(len(self._query_ids), dtype=np.bool_)

    def add(self, queries: IntArray, rows: Scores) -> None:
        """Counts in a block of scores.

        Args:
            queries: (b,) index into the query ids.
            rows: (b, n) float32 or float64, compared as they are; -inf for what was not retrieved. A view with rows and
                columns exchanged is counted where it lies, without a copy.

        Raises:
            ValueError: shapes disagree, a query was added before, or a score is NaN.
        """
        if rows.shape != (len(queries), len(self._item_ids)):
            raise ValueError(
                f"rows of shape {rows.shape} for {len(queries)} queries and {len(self._item_ids)} items; wanted "
                f"{(len(queries), len(self._item_ids))}"
            )
        for query in queries.tolist():
            if self._added[query]:
                raise ValueError(f"the query {self._query_ids[query]!r} was ranked before; wanted every query once")
            self._added[query] = True
        size = _ACROSS if _lies_across(rows) else max(_CELLS // max(len(self._item_ids), 1), 1)
        for start in range(0, len(queries), size):
            self._count(queries[start : start + size], rows[start : start + size])
        if self._depth:
            for query, row in zip(queries.tolist(), np.ascontiguousarray(rows), strict=True):
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

    def _count(self, queries: IntArray, rows: Scores) -> None:
        """Counts for the pairs of some queries, as many at once as there are rows."""
        if _any_nan(rows.T if _lies_across(rows) else rows):
            query = self._query_ids[int(queries[np.argmax(np.isnan(rows).any(axis=1))])]
            raise ValueError(f"the query {query!r} has a score that is NaN; wanted numbers")
        first, sizes = self._starts[queries], self._starts[queries + 1] - self._starts[queries]
        row_of = np.repeat(np.arange(len(queries)), sizes)
        pairs = np.arange(len(row_of)) + np.repeat(first - np.cumsum(sizes) + sizes, sizes)
        is_each = bool((sizes == 1).all())  # else rows are gathered, which copies them
        step = min(len(rows), _GATHERED) if _lies_across(rows) and not is_each else len(rows)
        for start in range(0, len(pairs), step):
            some, own = pairs[start : start + step], row_of[start : start + step]
            asked = self._item[some], self._places, self._room
            if _lies_across(rows):
                columns: NDArray[Any] = rows.T if is_each else np.take(rows.T, own, axis=1)
                self._retrieved[some], self._counts[:, some] = _stand_across(columns, *asked)
            else:
                self._retrieved[some], self._counts[:, some] = _stand(rows if is_each else rows[own], *asked)


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


def best(row: Scores, depth: int, order: IntArray) -> tuple[IntArray, NDArray[Any]]:
    """The best `depth` retrieved items of a row (0 <= depth <= n) and their scores as they are, best first.

    All that are level with the last one compete for the last places by id, so a shorter list is always the beginning
    of a longer one.
    """
    if depth == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=row.dtype)
    near = _near_the_top(row, depth)
    scores = row[near]
    last = np.partition(scores, len(near) - depth)[len(near) - depth]
    above = near[scores > last]
    level = near[scores == last] if last > -np.inf else above[:0]
    chosen = np.concatenate([above, level[np.argsort(order[level])][: depth - len(above)]])
    chosen = chosen[np.lexsort((order[chosen], -row[chosen]))]
    return chosen, row[chosen]


def _near_the_top(row: Scores, depth: int) -> IntArray:
    """Positions, ascending, of all scores that may be among the best `depth`, and of few others.

    The row is cut into strips that lie one below the other. The greatest score of each column of them is one score, so
    that at least `depth` scores are as great as the greatest but `depth` of those.
    """
    width = len(row) // _STRIPS
    if width < 2 * depth:
        return np.arange(len(row))
    greatest = row[: width * _STRIPS].reshape(_STRIPS, width).max(axis=0)
    return np.flatnonzero(row >= np.partition(greatest, width - depth)[width - depth])


def _stand(rows: Scores, items: IntArray, places: NDArray[Any], room: BoolArray) -> tuple[BoolArray, IntArray]:
    """Where one item of each row stands.

    Args:
        rows: (b, n) scores, -inf for what was not retrieved.
        items: (b,) its number.
        places: (n,) from `id_order`, of any type of whole numbers.
        room: (2, at least b * n) for what is compared; memory that is new each time would cost more than the comparing.

    Returns:
        (b,) whether it was retrieved, and (3, b) how many are scored higher, level with it (itself included), and level
        but before it in the order of ids; zeros where it was not retrieved.
    """
    scores = rows[np.arange(len(rows)), items][:, None]
    level, other = (part[: rows.size].reshape(rows.shape) for part in room)
    counts = np.zeros((3, len(rows)), dtype=np.int64)
    counts[0] = _true(np.greater(rows, scores, out=other))
    counts[1] = _true(np.equal(rows, scores, out=level))
    if (counts[1] > 1).any():
        np.less(places, places[items][:, None], out=other)
        counts[2] = _true(np.logical_and(level, other, out=level))
    retrieved = scores[:, 0] > -np.inf
    counts[:, ~retrieved] = 0
    return retrieved, counts


def _stand_across(
    columns: Scores, items: IntArray, places: NDArray[Any], room: BoolArray
) -> tuple[BoolArray, IntArray]:
    """As `_stand`, of scores that lie across memory: (n, b), a column a query, some of their rows at a time."""
    scores, own = columns[items, np.arange(len(items))], places[items]
    counts = np.zeros((3, len(items)), dtype=np.int64)
    tall = max(min(_TALL, room.shape[1] // max(len(items), 1)), 1)
    for start in range(0, len(columns), tall):
        rows = columns[start : start + tall]
        level, other = (part[: rows.size].reshape(rows.shape) for part in room)
        counts[0] += _true_down(np.greater(rows, scores, out=other))
        tied = _true_down(np.equal(rows, scores, out=level))
        counts[1] += tied
        if tied.sum() > np.count_nonzero((start <= items) & (items < start + tall)):  # more than the items themselves
            np.less(places[start : start + tall, None], own, out=other)
            counts[2] += _true_down(np.logical_and(level, other, out=level))
    retrieved = scores > -np.inf
    counts[:, ~retrieved] = 0
    return retrieved, counts


def _true(flags: BoolArray) -> IntArray:
    """(b,) how many flags of each of b rows are set."""
    return np.fromiter(map(np.count_nonzero, flags), np.int64, len(flags))


def _true_down(flags: BoolArray) -> NDArray[np.uint8]:
    """(b,) how many flags of each of b columns are set, of at most 255 rows."""
    return np.asarray(flags.view(np.uint8).sum(axis=0, dtype=np.uint8))


def _any_nan(scores: Scores) -> bool:
    """Whether a number in rows that lie along memory is NaN."""
    return any(bool(np.isnan(scores[start : start + _TALL]).any()) for start in range(0, len(scores), _TALL))


def _lies_across(rows: NDArray[Any]) -> bool:
    """Whether neighbours in memory belong to different rows, as in a matrix that was transposed."""
    return abs(rows.strides[0]) < abs(rows.strides[1])


def _judged(
    direction: Direction,
    query_ids: tuple[str, ...],
    item_ids: tuple[str, ...],
    relevant: Mapping[str, Mapping[str, float]],
) -> tuple[_Pairs, IntArray]:
    """The pairs and the order of the items' ids, in arrays that nobody can write to.

    They are the very same for the same ids and judgements, as other channels and the next cells of a sweep have them.
    """

    def make() -> tuple[_Pairs, IntArray]:
        pairs, order = _pairs(query_ids, item_ids, relevant), id_order(all_escaped(item_ids))
        for array in (*pairs, order):
            array.setflags(write=False)
        return pairs, order

    judged = tuple((query, tuple(gains.items())) for query, gains in relevant.items())
    return _last[direction].get((query_ids, item_ids, judged), make)


def _pairs(query_ids: Sequence[str], item_ids: Sequence[str], relevant: Mapping[str, Mapping[str, float]]) -> _Pairs:
    """Every (query, relevant item) as indices, with its gain, by query and then by item."""
    queries, items = _positions(query_ids), _positions(item_ids)
    found: list[tuple[int, int, float]] = []
    for query, gains in relevant.items():
        asking = queries.get(nfc(query), -1)
        for item, gain in gains.items():
            wanted = items.get(nfc(item), -1)
            if min(asking, wanted) < 0:
                raise ValueError(f"relevance of {item!r} to {query!r}: one of them is not among those ranked")
            if not gain > 0:
                raise ValueError(f"the gain of {item!r} for {query!r} is {gain}; wanted above 0")
            found.append((asking, wanted, float(gain)))
    found.sort()
    query_of, item_of, gain_of = zip(*found, strict=True) if found else ((), (), ())
    return np.array(query_of, dtype=np.int64), np.array(item_of, dtype=np.int64), np.array(gain_of, dtype=np.float64)


def _positions(ids: Iterable[str]) -> dict[str, int]:
    return {nfc(name): position for position, name in enumerate(ids)}
