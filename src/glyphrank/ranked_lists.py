"""From lists made elsewhere to ranks: where every relevant item stands in them, with its ties.

Lists of all queries lie in flat arrays, one after another, so that nothing is done query by query.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glyphrank.records import Direction, IntArray, Ranks, Scores

_ENTRIES = 2**15
"""Entries that are looked at at once: what is small stays in memory that is there already."""


@dataclass(frozen=True)
class Lists:
    """The lists of q queries, made elsewhere, one after another.

    Attributes:
        starts: (q + 1,) where each list begins, and the last one ends.
        items: (t,) numbers of items in the gallery, in a list each once, in any order.
        scores: (t,) float32 or float64, above -inf.
        order: (t,) ids' places, for entries of equal score, by which the smaller one stands first (`ranking.id_order`).
    """

    starts: IntArray
    items: IntArray
    scores: Scores
    order: IntArray

    def __post_init__(self) -> None:
        if not len(self.items) == len(self.scores) == len(self.order) == self.starts[-1]:
            raise ValueError(
                f"lists of {self.starts[-1]} entries have {len(self.items)} items, {len(self.scores)} scores and "
                f"{len(self.order)} places; wanted one each"
            )
        if not (self.scores > -np.inf).all():
            raise ValueError("a list has a score that is NaN or -inf; wanted what was retrieved, with its score")


@dataclass(frozen=True)
class Pairs:
    """Relevant items: (m,) number of the query, ascending, number of the item, and gain, above 0; every pair once."""

    query: IntArray
    item: IntArray
    gain: NDArray[np.float64]


def rank_lists(query_ids: Sequence[str], item_ids: Sequence[str], lists: Lists, pairs: Pairs) -> Ranks:
    """Ranks of relevant items in lists that are given and need not hold them all; what is not listed is not retrieved.

    As `ranking.RankCounter` gives for rows that are -inf wherever nothing is listed, with the whole lists as `top`.
    Whether they were cut short cannot be seen here: `truncated` is left to the caller.
    """
    higher, tied, before = np.zeros((3, len(pairs.query)), dtype=np.int64)
    retrieved = np.zeros(len(pairs.query), dtype=np.bool_)
    top: list[tuple[IntArray, Scores]] = []
    for first, last in _chunks(lists.starts):
        part = _sorted(_part(lists, first, last))
        own = slice(*np.searchsorted(pairs.query, [first, last]).tolist())
        entry = _entries(part, pairs.query[own] - first, pairs.item[own], len(item_ids))
        retrieved[own] = entry >= 0
        higher[own], tied[own], before[own] = _stand(part, entry, pairs.query[own] - first)
        ends = itertools.pairwise(part.starts.tolist())
        top += [(part.items[start:end], part.scores[start:end]) for start, end in ends]
    return Ranks(
        direction=Direction.t2v,
        query_ids=tuple(query_ids),
        item_ids=tuple(item_ids),
        query=pairs.query,
        item=pairs.item,
        gain=pairs.gain,
        higher=higher,
        tied=tied,
        before=before,
        retrieved=retrieved,
        top=top,
    )


def _chunks(starts: IntArray) -> Iterator[tuple[int, int]]:
    """First list and the one after the last, of as many lists as are taken at once, at least one."""
    first, count = 0, len(starts) - 1
    while first < count:
        last = max(int(np.searchsorted(starts, starts[first] + _ENTRIES, side="right")) - 1, first + 1)
        yield first, last
        first = last


def _part(lists: Lists, first: int, last: int) -> Lists:
    start, end = lists.starts[first], lists.starts[last]
    starts = lists.starts[first : last + 1] - start
    return Lists(starts, lists.items[start:end], lists.scores[start:end], lists.order[start:end])


def _sorted(lists: Lists) -> Lists:
    """The lists with the best entry first, in the order of ids where scores are equal."""
    scores, order = lists.scores, lists.order
    inside = np.ones(max(len(scores) - 1, 0), dtype=np.bool_)  # of each entry and the next, whether one list has both
    borders = lists.starts[1:-1]
    inside[borders[(borders > 0) & (borders < len(scores))] - 1] = False
    rises = (scores[1:] > scores[:-1]) | ((scores[1:] == scores[:-1]) & (order[1:] < order[:-1]))
    if not (rises & inside).any():
        return lists
    by_place = np.lexsort((order, -scores, _list_of(lists)))
    return Lists(lists.starts, lists.items[by_place], scores[by_place], order[by_place])


def _entries(lists: Lists, query: IntArray, item: IntArray, gallery: int) -> IntArray:
    """(m,) the entry that is a pair's item in its query's list, -1 where it is not listed."""
    entries = np.full(len(query), -1, dtype=np.int64)
    if len(query):
        wanted = query * gallery + item
        order = np.argsort(wanted)
        wanted = wanted[order]
        listed = _list_of(lists) * gallery + lists.items
        found = np.minimum(np.searchsorted(wanted, listed), len(wanted) - 1)
        hits = np.flatnonzero(wanted[found] == listed)
        entries[order[found[hits]]] = hits
    return entries


def _stand(lists: Lists, entry: IntArray, query: IntArray) -> IntArray:
    """(3, m) how many entries of its sorted list stand higher than an entry, are level, and level but before it.

    Zeros for the entry -1.
    """
    opens = np.ones(len(lists.items), dtype=np.bool_)  # entries that are not level with the one before
    opens[1:] = lists.scores[1:] != lists.scores[:-1]
    opens[lists.starts[:-1][np.diff(lists.starts) > 0]] = True
    begins = np.flatnonzero(opens)
    ends = np.append(begins[1:], len(opens))
    counts = np.zeros((3, len(entry)), dtype=np.int64)
    at = entry[entry >= 0]
    group = np.searchsorted(begins, at, side="right") - 1
    begin = begins[group]
    counts[:, entry >= 0] = begin - lists.starts[query[entry >= 0]], ends[group] - begin, at - begin
    return counts


def _list_of(lists: Lists) -> IntArray:
    return np.repeat(np.arange(len(lists.starts) - 1), np.diff(lists.starts))
