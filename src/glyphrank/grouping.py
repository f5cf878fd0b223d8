"""Which queries succeed and fail together, so that intervals and tests treat them as one piece of evidence.

Two captions of one video are no two independent trials: where the video cannot be found, both fail.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from glyphrank.errors import DataError
from glyphrank.ids import nfc
from glyphrank.ranking import reverse
from glyphrank.records import BoolArray, Direction, IntArray, Task

BY_ITEM = "item"
ALONE = "none"

FEW = 10
"""Groups, by their effective number, below which resampling them says little."""


@dataclass(frozen=True)
class Grouping:
    """The groups of everything that asks.

    Attributes:
        numbers: (q,) a number for each of the task's queries, in order (for `v2t`, for each of its items), from 0
            without gaps; equal numbers belong together.
        count: number of groups that count: those with a query to which something is relevant.
        note: what a reader of the intervals must know, None where there is nothing.
    """

    numbers: IntArray
    count: int
    note: str | None


def groups_of(task: Task, direction: Direction, group: str) -> Grouping:
    """Groups of a task's queries (for `v2t`, of its items) as `metrics.group` says.

    * `item`: queries that share a relevant item, directly or through others; where none do, each is alone (see
      `groups_by_item`).
    * `none`: each alone.
    * the name of a field of the queries: those with an equal value; a query without it is alone. An item goes by its
      own field, or else by that of the queries it is relevant to, if they agree.

    Few groups, of an effective number below 10 for 10 queries or more, are kept, and the note says so.

    Raises:
        DataError: no query has such a field; those there are, are named.
    """
    asking = [entry.id for entry in (task.queries if direction is Direction.t2v else task.items)]
    relevant = task.relevant if direction is Direction.t2v else reverse(task.relevant)
    asker = "queries" if direction is Direction.t2v else "items"
    if group == BY_ITEM:
        return groups_by_item(asking, relevant, asker)
    counted = _counted(asking, relevant)
    if group == ALONE:
        return Grouping(np.arange(len(asking)), int(counted.sum()), None)
    return _kept(_numbered(_labels(task, direction, group)), counted, asker)


def groups_by_item(query_ids: Sequence[str], relevant: Mapping[str, Iterable[str]], asker: str = "queries") -> Grouping:
    """Groups of queries that share a relevant item, directly or through others; of few, the note says so.

    Judgements of many relevant items may chain most queries together, which would leave little to resample: where one
    group holds more than half of 10 or more queries with a relevant item, each is alone, and the note says so.

    Args:
        query_ids, relevant: as for `connected`.
        asker: what the note calls the queries.
    """
    numbers, counted = connected(query_ids, relevant), _counted(query_ids, relevant)
    sizes, total = np.unique(numbers[counted], return_counts=True)[1], int(counted.sum())
    if total < FEW or 2 * sizes.max() <= total:
        return _kept(numbers, counted, asker)
    note = (
        f"shared judgements chain {sizes.max()} of {total} {asker} with relevant ones into one group (of "
        f"{len(sizes)}), so each is resampled alone and intervals may be too narrow"
    )
    return Grouping(np.arange(len(query_ids)), total, note)


def effective_number(groups: IntArray) -> float:
    """How many groups of one size tell as much as these, of sizes s: (sum s)^2 / sum s^2; 0 without any.

    Args:
        groups: (q,) equal numbers belong together.

    >>> effective_number(np.array([0, 0, 1, 1])), effective_number(np.array([0, 0, 0, 5]))
    (2.0, 1.6)
    """
    sizes = np.unique(groups, return_counts=True)[1]
    return float(sizes.sum() ** 2 / np.sum(sizes**2)) if len(sizes) else 0.0


def connected(query_ids: Sequence[str], relevant: Mapping[str, Iterable[str]]) -> IntArray:
    """(q,) numbers of groups, from 0 by first appearance, of queries that share an item, directly or through others.

    Args:
        query_ids: all queries; one without an entry is alone.
        relevant: query id -> ids of items (a mapping of gains will do); ids are matched in NFC.
    """
    items_of = {nfc(name): found for name, found in relevant.items()}
    parent = list(range(len(query_ids)))
    owner: dict[str, int] = {}
    for query, name in enumerate(query_ids):
        for item in items_of.get(nfc(name), ()):
            first = owner.setdefault(nfc(item), query)
            if first != query:
                parent[_root(parent, query)] = _root(parent, first)
    return _numbered([_root(parent, query) for query in range(len(query_ids))])


def _counted(query_ids: Sequence[str], relevant: Mapping[str, Iterable[str]]) -> BoolArray:
    """(q,) whether something is relevant to a query."""
    useful = {nfc(name) for name, found in relevant.items() if found}
    return np.array([nfc(name) in useful for name in query_ids], dtype=np.bool_)


def _kept(numbers: IntArray, counted: BoolArray, asker: str) -> Grouping:
    """These groups, with a note where those that count are too few."""
    total, count, effective = int(counted.sum()), len(np.unique(numbers[counted])), effective_number(numbers[counted])
    if effective >= FEW or total < FEW:
        return Grouping(numbers, count, None)
    count_as = "" if np.isclose(effective, count) else f", which count as {effective:.1f}"
    made = f"{count} group{'s' * (count != 1)} of {total} {asker}"
    return Grouping(numbers, count, f"{made}{count_as}: too few for intervals and tests that can be trusted")


def _root(parent: list[int], member: int) -> int:
    """The member that stands for a group; the path to it is shortened on the way."""
    while parent[member] != member:
        parent[member] = parent[parent[member]]
        member = parent[member]
    return member


def _labels(task: Task, direction: Direction, field: str) -> list[Hashable]:
    """For each query (or item) the value of a field, or something of its own where it has none."""
    values = {nfc(query.id): query.slices[field] for query in task.queries if field in query.slices}
    if not values:
        known = sorted({name for query in task.queries for name in query.slices})
        there = f"their fields are {', '.join(known)}" if known else "they have no fields"
        raise DataError(
            f"{task.name}: no query has the field {field!r} of metrics.group; {there} (or take {BY_ITEM} or {ALONE})"
        )
    if direction is Direction.t2v:
        found = [values.get(nfc(query.id)) for query in task.queries]
    else:
        found = _of_items(task, field, values)
    return [number if value is None else value for number, value in enumerate(found)]


def _of_items(task: Task, field: str, values: Mapping[str, str]) -> list[str | None]:
    """For each item its own value of a field, or the one value of all queries that it is relevant to."""
    asked: dict[str, set[str | None]] = {}
    for query_id, gains in task.relevant.items():
        for item_id in gains:
            asked.setdefault(nfc(item_id), set()).add(values.get(nfc(query_id)))
    agreed = {item: next(iter(found)) for item, found in asked.items() if len(found) == 1}
    return [item.slices.get(field, agreed.get(nfc(item.id))) for item in task.items]


def _numbered(labels: Sequence[Hashable]) -> IntArray:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
