"""How far the numbers of a run can be trusted: intervals, and what a few queries make of a mean rank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from weakref import ref

import numpy as np

from glyphrank.grouping import Grouping, groups_of
from glyphrank.intervals import Interval, intervals, slice_interval, tail_share
from glyphrank.last_values import LastValue
from glyphrank.metrics import Protocol, per_query, prefix
from glyphrank.records import BoolArray, Direction, Ranks, Task
from glyphrank.ties import Numbers

_last: dict[Direction, LastValue[tuple[ref[Task], Grouping]]] = {direction: LastValue() for direction in Direction}
"""The groups of the last task: a run asks for them several times, and the cells of a sweep share it."""


@dataclass(frozen=True)
class Uncertainty:
    """What stands beside the numbers of a report, under its names.

    Attributes:
        intervals: metric -> 95 % interval, in every direction.
        slice_intervals: field -> value -> primary metric, in every direction that has the field -> 95 % interval.
        tails: `mean_rank` and `v2t/mean_rank` -> the share of it that the worst 5 % of queries cause.
        counts: `groups`, `v2t/groups`, where queries (items) are grouped.
    """

    intervals: Mapping[str, Interval]
    slice_intervals: Mapping[str, Mapping[str, Mapping[str, Interval]]]
    tails: Mapping[str, float]
    counts: Mapping[str, int]


def groupings_of(task: Task, protocol: Protocol, directions: Iterable[Direction]) -> dict[Direction, Grouping]:
    """Which queries (items, where they ask) are resampled and tested together, as `protocol.group` says."""
    return {direction: _grouping(task, direction, protocol.group) for direction in directions}


def uncertainty(
    ranks: Mapping[Direction, Ranks],
    groupings: Mapping[Direction, Grouping],
    fields: Mapping[Direction, Mapping[str, Mapping[str, str]]],
    protocol: Protocol,
) -> Uncertainty:
    """Intervals of every metric, and of the primary one in every slice.

    Args:
        ranks: of the run's own ranking.
        groupings: of the same directions, from `groupings_of`.
        fields: direction -> field -> id of an asker -> its value, from `measure.slice_fields`.
        protocol: whose cut-offs, tie rule and primary metric count.
    """
    primary = protocol.primary.removeprefix(prefix(Direction.v2t))
    whole: dict[str, Interval] = {}
    parts: dict[str, dict[str, dict[str, Interval]]] = {}
    tails: dict[str, float] = {}
    counts: dict[str, int] = {}
    for direction, found in ranks.items():
        start, grouping = prefix(direction), groupings[direction]
        values = per_query(found, protocol.cutoffs, protocol.ties)
        (own,) = intervals([values], grouping.numbers, found.truncated)
        whole |= {start + name: interval for name, interval in own.items()}
        best = values["best_rank"]
        tails[f"{start}mean_rank"] = tail_share(best[~np.isnan(best)])
        if grouping.count < np.count_nonzero(~np.isnan(best)):
            counts[f"{start}groups"] = grouping.count
        for field, of_asker in fields[direction].items():
            for value, chosen in _members(found.query_ids, of_asker).items():
                interval = _of_slice(primary, values, chosen, grouping)
                if interval is not None:
                    parts.setdefault(field, {}).setdefault(value, {})[start + primary] = interval
    return Uncertainty(whole, parts, tails, counts)


def notes_of_groups(groupings: Mapping[Direction, Grouping], counts: Mapping[str, int], group: str) -> list[str]:
    """Who is resampled and tested together, in sentences; nothing where every query is taken alone.

    Args:
        counts: of the report, `groups` among them where queries are grouped.
        group: `Protocol.group`.
    """
    notes = []
    for direction, grouping in groupings.items():
        start, asking = prefix(direction), "queries" if direction is Direction.t2v else "items"
        if f"{start}groups" in counts:
            notes.append(f"{start}intervals and tests take {asking} in {grouping.count} groups (metrics.group={group})")
        if grouping.note:
            notes.append(f"{start}{grouping.note} (metrics.group={group})")
    return notes


def _grouping(task: Task, direction: Direction, group: str) -> Grouping:
    last = _last[direction]
    last.keep_if(lambda found: found[0]() is task)
    return last.get(group, lambda: (ref(task), groups_of(task, direction, group)))[1]


def _members(query_ids: Iterable[str], of_asker: Mapping[str, str]) -> dict[str, BoolArray]:
    """Value -> (q,) whether a query has it."""
    own = np.array([of_asker.get(query, "") for query in query_ids], dtype=object)
    has = np.array([query in of_asker for query in query_ids], dtype=np.bool_)
    return {value: np.asarray(has & (own == value), dtype=np.bool_) for value in sorted(set(of_asker.values()))}


def _of_slice(primary: str, values: Mapping[str, Numbers], chosen: BoolArray, grouping: Grouping) -> Interval | None:
    """The primary metric's interval over the chosen queries, None where too few of them have a relevant item."""
    return slice_interval(primary, {name: value[chosen] for name, value in values.items()}, grouping.numbers[chosen])
