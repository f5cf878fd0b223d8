"""Scores a matrix made elsewhere, S[query, item] in a NumPy file, as competitions ask for it (`score --matrix`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from glyphrank.errors import DataError
from glyphrank.grouping import Grouping
from glyphrank.ids import nfc
from glyphrank.matrix_doubts import check_orientation, differences, equal_queries
from glyphrank.matrix_file import ScoreMatrix, check_scores, open_matrix
from glyphrank.measure import bounds_of, counts_of, metrics_of, notes_of, notes_of_bounds
from glyphrank.metrics import Protocol, per_query
from glyphrank.ranking import RankCounter, reverse
from glyphrank.records import Direction, Ranks, Task
from glyphrank.ties import Numbers, TieRule
from glyphrank.uncertainty import groupings_of, notes_of_groups, uncertainty

OWN = "test"
"""Name of the order of the task's items."""
_FEWEST = 10
"""Queries that must be ranked otherwise by another reading of the matrix, or nothing is said about it."""


def score_matrix(path: Path, task: Task, order: str, protocol: Protocol, every_rule: bool = False) -> dict[str, Any]:
    """Metrics of a matrix, in the directions and under the tie rule of a protocol, which also says who is grouped.

    Rows are the task's queries in order, and -inf is an item that was not retrieved. Scores are compared as they are:
    equal queries that were encoded in different batches may differ in the last bits, which breaks their ties in v2t by
    chance; it is counted and not mended.

    Args:
        order: of the columns: `test` for that of `task.items`, or one of `task.orders`.
        every_rule: whether the metrics under all tie rules are wanted.

    Returns:
        As `score.score`: `metrics`, `bounds`, `intervals` and `tails` (names of v2t begin with `v2t/`), `counts`, and
        `notes`, in sentences; `rules`, where wanted.

    Raises:
        DataError: the order is unknown; the file holds no array of real numbers of the right shape, or NaN or +inf; a
            square matrix is S[item, query], as the rows and columns of equal queries show.
    """
    columns = _columns(task, order)
    matrix = open_matrix(path, task)
    check_scores(matrix, [query.id for query in task.queries], columns)
    groups = equal_queries(task)
    check_orientation(matrix, groups)
    ranks = {Direction.t2v: _ranked(matrix, task, columns, Direction.t2v)}
    if Direction.v2t in protocol.directions:
        ranks[Direction.v2t] = _ranked(matrix, task, columns, Direction.v2t)
    asked = {direction: ranks[direction] for direction in protocol.directions}
    differing = differences(matrix, groups)
    groupings = groupings_of(task, protocol, asked)
    certainty = uncertainty(asked, _in_columns(groupings, task, columns), {way: {} for way in asked}, protocol)
    limits = bounds_of(asked, protocol)
    counts = {
        **{name: count for name, count in counts_of(task, ranks).items() if name != "fields_left_out"},
        "equal_queries_apart_in_last_bits": differing.last_bits,
        "equal_queries_apart": differing.more,
        **certainty.counts,
    }
    return {
        "metrics": metrics_of(asked, protocol),
        **({"rules": _by_rule(asked, protocol)} if every_rule else {}),
        "bounds": limits,
        "intervals": certainty.intervals,
        "tails": certainty.tails,
        "counts": counts,
        "notes": [
            *_other_readings(matrix, task, order, ranks[Direction.t2v]),
            *(f"{name}: {value}" for name, value in task.tags.items()),
            *task.notes,
            *notes_of(counts, protocol.cutoffs),
            *_notes(counts),
            *notes_of_groups(groupings, counts, protocol.group),
            *notes_of_bounds(limits),
        ],
    }


def _by_rule(ranks: Mapping[Direction, Ranks], protocol: Protocol) -> dict[str, dict[str, float]]:
    """Tie rule -> metrics of all directions."""
    return {rule.value: metrics_of(ranks, replace(protocol, ties=rule)) for rule in TieRule}


def _in_columns(
    groupings: Mapping[Direction, Grouping], task: Task, columns: Sequence[str]
) -> dict[Direction, Grouping]:
    """The groupings with items in the order of the columns, as they ask in v2t."""
    place = {nfc(item.id): number for number, item in enumerate(task.items)}
    order = np.array([place[nfc(item)] for item in columns], dtype=np.int64)
    return {
        direction: grouping if direction is Direction.t2v else replace(grouping, numbers=grouping.numbers[order])
        for direction, grouping in groupings.items()
    }


def _columns(task: Task, order: str) -> tuple[str, ...]:
    """Ids of the columns."""
    orders = _orders(task)
    if order not in orders:
        known = [note for note in task.notes if order in note]
        if not known and not task.orders:
            known = ["another order is known where its file lies beside the others, such as TextVR_test_rand.json"]
        wanted = "; ".join([f"wanted one of {', '.join(orders)}", *known])
        raise DataError(f"{task.name} has no order of columns called {order!r}; {wanted}")
    if sorted(orders[order]) != sorted(orders[OWN]):
        raise DataError(
            f"{task.name}: the order {order!r} names {len(orders[order])} items, which are not the {len(task.items)} "
            "of the task; a matrix in this order cannot be scored"
        )
    return orders[order]


def _orders(task: Task) -> dict[str, tuple[str, ...]]:
    return {**task.orders, OWN: tuple(item.id for item in task.items)}


def _ranked(matrix: ScoreMatrix, task: Task, columns: Sequence[str], direction: Direction) -> Ranks:
    """Ranks of every relevant item; in v2t the columns ask."""
    asking: Sequence[str] = [query.id for query in task.queries]
    gallery, relevant, rows = columns, task.relevant, matrix
    if direction is Direction.v2t:
        asking, gallery, relevant, rows = columns, asking, reverse(task.relevant), matrix.turned
    counter = RankCounter(direction, asking, gallery, relevant, 0)
    for positions, block in rows.blocks():
        counter.add(positions, block)
    return counter.finish()


def _other_readings(matrix: ScoreMatrix, task: Task, order: str, ranks: Ranks) -> list[str]:
    """A sentence where the matrix makes far more sense read otherwise: with other columns, or transposed."""
    own = _best_ranks(ranks)
    found: list[tuple[float, str]] = []
    for name, columns, is_turned in _readings(matrix, task, order):
        other = _best_ranks(_ranked(matrix.turned if is_turned else matrix, task, columns, Direction.t2v))
        better, worse = int(np.sum(other < own)), int(np.sum(other > own))
        here, there = float(np.nanmean(own)), float(np.nanmean(other))
        if better + worse >= _FEWEST and better >= 3 * worse and there <= here / 2:
            how = f"{'transposed, with the items' if is_turned else 'with the columns'} in the order {name!r}"
            ask = "does it hold S[item, query]? save S.T" if is_turned else f"is it in that order (--columns {name})?"
            sentence = (
                f"the matrix finds far more when read {how}: mean rank {there:.1f} and not {here:.1f}, {better} "
                f"queries better and {worse} worse; {ask}"
            )
            found.append((there, sentence))
    return [min(found, key=lambda reading: reading[0])[1]] if found else []


def _best_ranks(ranks: Ranks) -> Numbers:
    """(q,) rank of each query's best relevant item, NaN where it has none; a constant matrix is not flattered."""
    return per_query(ranks, (10,), TieRule.pessimistic)["best_rank"]


def _readings(matrix: ScoreMatrix, task: Task, order: str) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """Other ways to read the matrix: name and ids of the columns' order, and whether it is transposed.

    In the task's own order a transposed matrix has its relevant cells in the same places, and one direction may truly
    be better than the other, so that it tells nothing.
    """
    orders = _orders(task)
    is_square = matrix.values.shape[0] == matrix.values.shape[1]
    for name, columns in orders.items():
        if sorted(columns) != sorted(orders[OWN]):
            continue
        if columns != orders[order]:
            yield name, columns, False
        if is_square and columns != orders[OWN]:
            yield name, columns, True


def _notes(counts: Mapping[str, int]) -> list[str]:
    sentences = {
        "relevant_not_retrieved": "relevant items at -inf, which are never hits and rank last",
        "tied_queries": "queries with ties that change their numbers, between the worst and best value of the bounds",
        "v2t/tied_queries": "items with ties that change their numbers in v2t, between worst and best of the bounds",
        "equal_queries_apart_in_last_bits": "queries whose scores differ from those of an equal query in the last bits "
        "only, as when both are encoded in different batches; in v2t this breaks their ties by chance: encode each "
        "distinct text once",
        "equal_queries_apart": "queries whose scores differ from those of an equal query by more than rounding; are "
        "the rows in the order of the queries?",
    }
    return [f"{sentence}: {counts[name]}" for name, sentence in sentences.items() if counts.get(name)]
