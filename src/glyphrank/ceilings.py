"""The best that any ranker can reach where queries or items cannot be told apart.

Equal queries get one ranking, equal items one score. The ideal ranker knows all relevance and ties nothing else: one
that did would be flattered by the rules `optimistic` and `textvr`, without finding more.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from glyphrank.ids import nfc
from glyphrank.metrics import evaluate
from glyphrank.ranking import id_order, reverse
from glyphrank.records import Direction, Ranks
from glyphrank.ties import TieRule
from glyphrank.trec import escaped


@dataclass(frozen=True)
class Side:
    """The queries or the items of a task, and which of them are alike.

    Attributes:
        ids: n ids as published.
        labels: (n,) equal where a ranker cannot tell the two apart, such as the text or the digest of the pixels; None
            where it can see nothing: such an item is never retrieved, and such a query retrieves nothing.
    """

    ids: tuple[str, ...]
    labels: tuple[Hashable | None, ...]

    def __post_init__(self) -> None:
        if len(self.ids) != len(self.labels):
            raise ValueError(f"{len(self.labels)} labels for {len(self.ids)} ids; wanted one each")


@dataclass(frozen=True)
class Ideal:
    """What the ideal ranker does.

    Attributes:
        is_exact: whether no such ranker can do better in any metric under any rule; else one that orders for a single
            metric may reach more in it.
    """

    ranks: Ranks
    is_exact: bool


def ceiling(
    queries: Side,
    items: Side,
    relevant: Mapping[str, Mapping[str, float]],
    direction: Direction,
    rule: TieRule,
    cutoffs: Sequence[int],
) -> dict[str, float]:
    """The metrics of the ideal ranker, under the names of `metrics.evaluate`; arguments as for `ideal`.

    Raises:
        DataError: nothing is relevant to anything.
    """
    return evaluate(ideal(queries, items, relevant, direction).ranks, cutoffs, rule)


def ideal(queries: Side, items: Side, relevant: Mapping[str, Mapping[str, float]], direction: Direction) -> Ideal:
    """Where the relevant items stand in the best rankings.

    For each group of equal queries, the groups of equal items that hold something relevant to any of them come first,
    all else below. They are ordered by the gain that they bring to the queries of the group (of each query's total) for
    each place that they take, so those that serve most queries first, and the smaller first among equals: the order of
    the least mean rank where each query has one relevant item (Smith's rule). It is the best order for every metric
    where there is one such group of items, or where all of them have one member and no two queries of the group compete
    unevenly: those that can be served at all are but one, or have one relevant item each, the unseen ones counted (with
    two, one of them unseen, a place is worth half in recall and all of a hit).

    Args:
        relevant: query id -> {item id: gain}, gains above 0, of known ids, which are matched in NFC.
        direction: `v2t` has items ask for queries.
    """
    asking, gallery = (queries, items) if direction is Direction.t2v else (items, queries)
    gains = relevant if direction is Direction.t2v else reverse(relevant)
    pairs = _pairs(asking, gallery, gains)
    groups = _Groups(gallery)
    stand: dict[tuple[int, int], tuple[int, int, int]] = {}
    is_exact = True
    for members in _alike(asking.labels):
        wanted = {query: pairs[query] for query in members if any(groups.of[item] is not None for item in pairs[query])}
        order = groups.ordered(wanted)
        is_exact &= _is_best([len(groups.members[label]) for label in order], list(wanted.values()))
        stand |= groups.places(wanted, order)
    return Ideal(_ranks(asking, gallery, pairs, stand, direction), is_exact)


class _Groups:
    """The gallery by what can be told apart."""

    def __init__(self, gallery: Side) -> None:
        self.of = gallery.labels
        self.members: dict[Hashable, list[int]] = {}
        for position, label in enumerate(gallery.labels):
            if label is not None:
                self.members.setdefault(label, []).append(position)
        order = id_order([escaped(name) for name in gallery.ids])
        self._before = np.zeros(len(gallery.ids), dtype=np.int64)
        for alike in self.members.values():
            alike.sort(key=lambda position: int(order[position]))
            self._before[alike] = np.arange(len(alike))

    def ordered(self, wanted: Mapping[int, Mapping[int, float]]) -> list[Hashable]:
        """The groups that hold something that is wanted, best first; among equals by their place in the gallery.

        A query's total counts what nobody can see too, as recall and nDCG do.
        """
        weight: dict[Hashable, float] = {}
        first: dict[Hashable, int] = {}
        for gains in wanted.values():
            total = sum(gains.values())
            for item, gain in gains.items():
                label = self.of[item]
                if label is None:
                    continue
                weight[label] = weight.get(label, 0.0) + gain / total
                first[label] = min(item, first.get(label, item))
        size = {label: len(self.members[label]) for label in weight}
        return sorted(weight, key=lambda label: (-weight[label] / size[label], size[label], first[label]))

    def places(
        self, wanted: Mapping[int, Mapping[int, float]], order: Sequence[Hashable]
    ) -> dict[tuple[int, int], tuple[int, int, int]]:
        """(query, item) -> how many stand higher, how many level with it, and how many of these before it by id."""
        higher: dict[Hashable, int] = {}
        filled = 0
        for label in order:
            higher[label] = filled
            filled += len(self.members[label])
        return {
            (query, item): (higher[label], len(self.members[label]), int(self._before[item]))
            for query, gains in wanted.items()
            for item in gains
            if (label := self.of[item]) is not None
        }


def _is_best(sizes: Sequence[int], wanted: Sequence[Mapping[int, float]]) -> bool:
    """Whether no other order of the groups is better for some metric; see `ideal`.

    Args:
        sizes: of the groups that hold something that is wanted.
        wanted: the gains of each query that one of these serves, of unseen items too.
    """
    if len(sizes) <= 1:
        return True
    return max(sizes) == 1 and (len(wanted) == 1 or all(len(gains) == 1 for gains in wanted))


def _alike(labels: Sequence[Hashable | None]) -> list[list[int]]:
    """Positions of equal labels, in order of first appearance; what nothing is seen of asks nothing."""
    found: dict[Hashable, list[int]] = {}
    for position, label in enumerate(labels):
        if label is not None:
            found.setdefault(label, []).append(position)
    return list(found.values())


def _pairs(asking: Side, gallery: Side, relevant: Mapping[str, Mapping[str, float]]) -> list[dict[int, float]]:
    """For each of the q askers, {position in the gallery: gain} in ascending order."""
    askers, items = ({nfc(name): n for n, name in enumerate(side.ids)} for side in (asking, gallery))
    found: list[dict[int, float]] = [{} for _ in asking.ids]
    for query, gains in relevant.items():
        positions = {items[nfc(item)]: float(gain) for item, gain in gains.items()}
        found[askers[nfc(query)]] = dict(sorted(positions.items()))
    return found


def _ranks(
    asking: Side,
    gallery: Side,
    pairs: Sequence[Mapping[int, float]],
    stand: Mapping[tuple[int, int], tuple[int, int, int]],
    direction: Direction,
) -> Ranks:
    keys = [(query, item) for query, gains in enumerate(pairs) for item in gains]
    rows = [(*key, *stand.get(key, (0, 0, 0))) for key in keys]
    query, item, higher, tied, before = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    return Ranks(
        direction=direction,
        query_ids=asking.ids,
        item_ids=gallery.ids,
        query=query,
        item=item,
        gain=np.array([gain for gains in pairs for gain in gains.values()], dtype=np.float64),
        higher=higher,
        tied=tied,
        before=before,
        retrieved=np.array([key in stand for key in keys], dtype=np.bool_),
    )
