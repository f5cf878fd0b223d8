"""What the rows of equal queries tell about a matrix: whether it is transposed, and how its scores were computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from glyphrank.errors import DataError
from glyphrank.matrix_file import ScoreMatrix
from glyphrank.records import Scores, Task

MOST_PAIRS = 200
"""Pairs of equal queries that are looked at; more would tell no more."""
_CLOSE = 0.05
"""Two rows are alike where they differ by less than this share of what rows of different queries differ by."""
_LAST_BITS = 32
"""Units of the last place, at the largest score of a row, up to which a difference is rounding."""

Groups = Sequence[Sequence[int]]
"""Positions of queries of equal text, two at least in each group."""


@dataclass(frozen=True)
class Differences:
    """How the rows of equal queries differ from the first of them.

    Attributes:
        last_bits: rows that differ by rounding only.
        more: rows that differ by more.
    """

    last_bits: int
    more: int


def equal_queries(task: Task) -> Groups:
    """The groups of queries of equal text, in order of first appearance."""
    found: dict[str, list[int]] = {}
    for position, query in enumerate(task.queries):
        found.setdefault(query.text, []).append(position)
    return [positions for positions in found.values() if len(positions) > 1]


def check_orientation(matrix: ScoreMatrix, groups: Groups) -> None:
    """Refuses a square matrix whose columns, and not its rows, are alike where queries are equal.

    Raises:
        DataError: the matrix is S[item, query].
    """
    count, width = matrix.values.shape
    pairs = list(islice(_pairs(groups), MOST_PAIRS))
    if count != width or not pairs:
        return
    rows, columns = _alike(matrix, groups, pairs), _alike(matrix.turned, groups, pairs)
    if rows is not None and columns is not None and rows <= 0.1 and columns >= 0.9:
        raise DataError(
            f"{matrix.path}: looks transposed: of {len(pairs)} pairs of equal queries {round(columns * len(pairs))} "
            f"have equal columns and {round(rows * len(pairs))} equal rows; wanted a row for each query and a column "
            "for each item: save S.T"
        )


def differences(matrix: ScoreMatrix, groups: Groups) -> Differences:
    """How many rows differ from that of the first query of the same text."""
    last_bits = more = 0
    for first, other in _pairs(groups):
        one, two = matrix.rows([first, other])
        if np.array_equal(one, two):
            continue
        finite = np.isfinite(one)
        largest = np.max(np.abs(one[finite]), initial=0)
        with np.errstate(over="ignore"):
            apart = np.max(np.abs(one[finite] - two[finite]), initial=0)
        is_small = np.array_equal(finite, np.isfinite(two)) and apart <= _LAST_BITS * matrix.precision * largest
        last_bits += bool(is_small)
        more += not is_small
    return Differences(last_bits, more)


def _pairs(groups: Groups) -> Iterator[tuple[int, int]]:
    """The first of each group with every other."""
    return ((group[0], other) for group in groups for other in group[1:])


def _alike(matrix: ScoreMatrix, groups: Groups, pairs: Sequence[tuple[int, int]]) -> float | None:
    """Share of the pairs whose rows are alike; None where rows do not differ at all, or every query is the same."""
    number = np.arange(len(matrix.values))
    for group in groups:
        number[list(group)] = group[0]
    others = [np.flatnonzero(number != first) for first, _ in pairs]
    if not len(others[0]):
        return None
    strangers = [int(other[turn % len(other)]) for turn, other in enumerate(others)]
    firsts, seconds, thirds = (_finite(matrix.rows(list(some))) for some in (*zip(*pairs, strict=True), strangers))
    with np.errstate(over="ignore"):
        usual = float(np.median(np.mean(np.abs(firsts - thirds), axis=1)))
        apart = np.mean(np.abs(firsts - seconds), axis=1)
    return float(np.mean(apart <= _CLOSE * usual)) if usual > 0 else None


def _finite(rows: Scores) -> Scores:
    """The rows with the lowest of their numbers in the place of -inf."""
    finite = np.isfinite(rows)
    return np.where(finite, rows, np.min(rows[finite], initial=0))
