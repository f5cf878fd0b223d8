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
from glyphrank.records import Direction, IntArray, Task

BY_ITEM = "item"
ALONE = "none"

_FEW = 10
"""Groups below which resampling them says little."""


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

    * `item`: queries that share a relevant item, directly or through others; where none do, each is alone. Judgements
      of many relevant items may chain nearly all queries together, which would leave nothing to resample: where the
      effective number of groups, (sum s)^2 / sum s^2 over sizes s, is below 10 for 10 queries or more, each is alone,
      and the note says so.
    * `none`: each alone.
    * the name of a field of the queries: those with an equal value; a query without it is alone. An item goes by its
      own field, or else by that of the queries it is relevant to, if they agree.

    Raises:
        DataError: no query has such a field; those there are, are named.
    """
    asking = [entry.id for entry in (task.queries if direction is Direction.t2v else task.items)]
    relevant = task.relevant if direction is Direction.t2v else reverse(task.relevant)
    useful = {nfc(name) for name, found in relevant.items() if found}
    counted = np.array([nfc(name) in useful for name in asking])
    alone = np.arange(len(asking))
    if group == ALONE:
        return Grouping(alone, int(counted.sum()), None)
    by_item = group == BY_ITEM
    numbers = connected(asking, relevant) if by_item else _numbered(_labels(task, direction, group))
    sizes = np.bincount(numbers[counted])
    sizes = sizes[sizes > 0]
    effective = float(sizes.sum() ** 2 / np.sum(sizes**2)) if len(sizes) else 0.0
    if effective >= _FEW or counted.sum() < _FEW:
        return Grouping(numbers, len(sizes), None)
    asker = "queries" if direction is Direction.t2v else "items"
    if by_item:
        note = (
            f"shared judgements chain the {len(sizes)} groups of {counted.sum()} {asker} so much that they count as "
            f"{effective:.1f}, so each is resampled alone and intervals may be too narrow; metrics.group=none says the "
            "same on purpose, the name of a field groups by it"
        )
        return Grouping(alone, int(counted.sum()), note)
    note = (
        f"metrics.group={group} makes {len(sizes)} groups of {counted.sum()} {asker}, which count as {effective:.1f}: "
        "too few for intervals and tests that can be trusted"
    )
    return Grouping(numbers, len(sizes), note)


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
