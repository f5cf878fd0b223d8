"""From vectors or tokens to rows of scores: distinct inputs, fixed tiles, blocks, both directions.

A matrix product gives equal vectors different last bits, and other bits again when its shape changes. So scores are
computed once for each distinct vector, always in the same tiles of `TILE` queries, and copied to whoever shares it:
equal inputs score bitwise equal, whatever block the caller asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from glyphrank.last_values import recent
from glyphrank.records import BoolArray, FloatArray, IntArray, Vectors

TILE = 128
"""Distinct queries that are scored in one product; part of what makes scores repeatable, so not a setting."""

FEW = 8
"""One repeat among so many rows is not worth a copy of the others."""

Q_contra = TypeVar("Q_contra", contravariant=True)


class Searcher(Protocol[Q_contra]):
    """Scores any block of queries against the entries it was built over."""

    def rows(self, queries: Q_contra) -> FloatArray:
        """Scores of b queries against all n entries, (b, n) float32, -inf for what was not retrieved.

        The array is the caller's, who may change it.
        """
        ...


@dataclass(frozen=True)
class Channel:
    """One way to score u query texts against n items, through a searcher that knows distinct inputs only.

    Attributes:
        queries: the distinct queries, in a form that the searcher takes and that can be sliced.
        query_rows: (u,) index into `queries`, -1 where a query retrieves nothing in this channel.
        columns: (n,) index into the searcher's entries, -1 where an item has no part in this channel; or (n, w) where
            an item has up to w entries and the score of its best.
    """

    name: str
    searcher: Searcher[Any]
    queries: Sequence[Any] | FloatArray
    query_rows: IntArray
    columns: IntArray

    def blocks(self, size: int) -> Iterator[FloatArray]:
        """Scores of all query texts in order, (size, n) float32 at a time (fewer in the last block), to be read only.

        Raises:
            ValueError: the searcher returned NaN, or another number of rows than it was asked for.
        """
        order, turns = _by_first_use(self.query_rows)
        tiles = _Tiles(self, order)
        for start in range(0, len(turns), size):
            wanted = turns[start : start + size]
            numbers = np.unique(wanted[wanted >= 0] // TILE)
            following = wanted[0] >= 0 and np.array_equal(wanted, np.arange(wanted[0], wanted[0] + len(wanted)))
            if following and len(numbers) == 1:
                yield tiles.rows(int(numbers[0]))[wanted[0] % TILE :][: len(wanted)]
                continue
            block = np.full((len(wanted), len(self.columns)), -np.inf, dtype=np.float32)
            for number in numbers:
                here = np.flatnonzero((wanted >= 0) & (wanted // TILE == number))
                block[here] = tiles.rows(int(number))[wanted[here] % TILE]
            yield block


def _by_first_use(rows: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct numbers that are not -1 in order of first appearance, and each row's place among them (or -1).

    Tiles are cut along this order, whatever order the queries lie in, so that each is scored once as blocks go by.
    """
    present = rows >= 0
    used, first, inverse = np.unique(rows[present], return_index=True, return_inverse=True)
    turns = np.full(len(rows), -1, dtype=np.int64)
    turns[present] = np.argsort(np.argsort(first))[inverse]
    return used[np.argsort(first)], turns


class _Tiles:
    """Rows of the distinct queries over all items, one tile at a time; the last is kept, since blocks come in order."""

    def __init__(self, channel: Channel, order: IntArray) -> None:
        self._channel = channel
        self._order = order
        self._columns = channel.columns.reshape(len(channel.columns), -1).T
        self._absent = np.flatnonzero(self._columns[0] < 0)
        self._elsewhere = np.flatnonzero(self._columns[0] != np.arange(len(channel.columns)))
        self._number = -1
        self._rows = np.empty((0, 0), dtype=np.float32)

    def rows(self, number: int) -> FloatArray:
        if number != self._number:
            chosen = self._order[number * TILE : (number + 1) * TILE]
            queries = self._channel.queries
            scores = self._channel.searcher.rows(
                queries[chosen] if isinstance(queries, np.ndarray) else [queries[query] for query in chosen]
            )
            where = f"channel {self._channel.name!r}, {len(chosen)} distinct queries from number {chosen[0]} on"
            if len(scores) != len(chosen):
                raise ValueError(f"{where}: the searcher gave {len(scores)} rows; wanted one a query")
            if np.isnan(scores.max(initial=-np.inf)):
                raise ValueError(f"{where}: the searcher gave a score that is NaN; wanted numbers or -inf")
            self._rows = self._spread(scores)
            self._number = number
        return self._rows

    def _spread(self, scores: FloatArray) -> FloatArray:
        """Scores of the entries, (b, entries), copied to all items that share them, (b, n)."""
        columns, *others = self._columns
        if others:
            return self._best(scores)
        if scores.shape[1] == len(columns) and len(self._elsewhere) * FEW <= len(columns):
            scores[:, self._elsewhere] = scores[:, columns[self._elsewhere]]
            scores[:, self._absent] = -np.inf
            return scores
        if len(self._absent) == len(columns):
            return np.full((len(scores), len(columns)), -np.inf, dtype=np.float32)
        rows = np.take(scores, columns, axis=1)
        rows[:, self._absent] = -np.inf
        return rows

    def _best(self, scores: FloatArray) -> FloatArray:
        """For each item the score of its best entry, (b, n)."""
        rows = np.full((len(scores), self._columns.shape[1]), -np.inf, dtype=np.float32)
        for columns in self._columns:
            present = np.flatnonzero(columns >= 0)
            rows[:, present] = np.maximum(rows[:, present], scores[:, columns[present]])
        return rows


def unit_rows(values: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Rows of length 1, in float32 whatever came in, and which rows could be normalised.

    Args:
        values: (n, d) of any float type.

    Returns:
        (n, d) float32 with unit rows, and (n,) bool: False for a row that is zero or not finite, which is then zero.
    """
    wide = np.asarray(values, dtype=np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        largest = np.max(np.abs(wide), axis=1, keepdims=True, initial=0)
        usable = np.isfinite(largest[:, 0]) & (largest[:, 0] > 0)
        scaled = np.divide(wide, largest, out=np.zeros_like(wide), where=usable[:, None])
    lengths = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    return np.divide(scaled, lengths, out=scaled, where=usable[:, None]), usable


def distinct(values: FloatArray) -> tuple[IntArray, IntArray]:
    """Which rows differ in their bytes.

    Args:
        values: (n, d) float32.

    Returns:
        (n,) the number of each row among the distinct ones, in order of first appearance, and (u,) the row where each
        of these first stands, so that `values[first][number]` is `values`.
    """
    rows = np.ascontiguousarray(values)
    words: NDArray[Any] = rows.view(np.uint64 if rows.shape[1] % 2 == 0 else np.uint32)
    begins = np.sort(words[:, :1], axis=None)
    if len(begins) == len(rows) and (begins[1:] != begins[:-1]).all():  # as usual, all differ in where they begin
        return np.arange(len(rows)), np.arange(len(rows))
    factors = np.random.default_rng(0).integers(0, 2**64, words.shape[1], dtype=np.uint64) | np.uint64(1)
    _, first, group = np.unique(np.einsum("ij,j->i", words, factors), return_index=True, return_inverse=True)
    # Rows of equal hash are compared in full; a chance collision is settled by the bytes themselves.
    repeats = np.flatnonzero(first[group] != np.arange(len(rows)))
    for part in np.array_split(repeats, len(repeats) // 4096 + 1):
        if not np.array_equal(words[part], words[first[group[part]]]):
            first, group = _numbered_by_bytes(rows)
            break
    order = np.argsort(first)
    return np.argsort(order)[group], first[order]


def _numbered_by_bytes(rows: FloatArray) -> tuple[IntArray, IntArray]:
    numbers: dict[bytes, int] = {}
    group = np.fromiter((numbers.setdefault(row.tobytes(), len(numbers)) for row in rows), np.int64, len(rows))
    return np.unique(group, return_index=True)[1], group


def place(known: Sequence[str], inputs: Sequence[str]) -> IntArray:
    """For each input its position in `known` (distinct names), -1 where it is not there; (len(inputs),) int64.

    The array cannot be written to, since the next cell of a sweep gets the same.
    """
    return _placed(tuple(known), tuple(inputs))


@recent(4)
def _placed(known: tuple[str, ...], inputs: tuple[str, ...]) -> IntArray:
    positions = {name: position for position, name in enumerate(known)}
    found = np.fromiter((positions.get(name, -1) for name in inputs), np.int64, len(inputs))
    found.setflags(write=False)
    return found


def select(numbers: IntArray, positions: IntArray) -> IntArray:
    """`numbers[positions]`, with -1 staying -1."""
    return np.where(positions >= 0, numbers[positions], -1) if len(numbers) else positions


def matrix(vectors: Vectors, keep_few: bool = True) -> tuple[Vectors, IntArray]:
    """What a searcher is built over, and for each row of `vectors` the entry that stands for it, (n,) int64.

    Equal rows have one entry, the first of them, so that they are scored once. Where at most one row in `FEW` repeats
    another, the repeats stay as entries that stand for nothing: leaving them out would copy all the others. An
    approximate index wants `keep_few=False`: there they would take the places of others among the few that it finds.
    """
    number, first = distinct(vectors.values)
    if len(first) == len(vectors.ids) or (keep_few and (len(vectors.ids) - len(first)) * FEW <= len(vectors.ids)):
        return vectors, first[number]
    return Vectors(tuple(vectors.ids[row] for row in first), vectors.values[first]), number
