"""Equal inputs score bitwise equal, whatever block is asked for, forward and reverse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glyphrank.metrics import bounds, evaluate
from glyphrank.ranking import RankCounter, reverse
from glyphrank.records import Direction, FloatArray, Ranks, Vectors
from glyphrank.scoring import TILE, Channel, distinct, matrix, place, select, unit_rows
from glyphrank.ties import TieRule, tied_queries


@dataclass(frozen=True)
class Products:
    """Inner products with its entries; remembers how many queries each call had."""

    values: FloatArray
    calls: list[int] = field(default_factory=list)

    def rows(self, queries: FloatArray) -> FloatArray:
        self.calls.append(len(queries))
        return np.asarray(queries @ self.values.T, dtype=np.float32)


@dataclass(frozen=True)
class Lengths:
    """Scores texts by how near their length is to that of the query."""

    texts: Sequence[str]

    def rows(self, queries: Sequence[str]) -> FloatArray:
        gaps = [[-abs(len(query) - len(text)) for text in self.texts] for query in queries]
        return np.array(gaps, dtype=np.float32).reshape(len(queries), len(self.texts))


def _unit(generator: np.random.Generator, count: int, width: int) -> FloatArray:
    return unit_rows(generator.standard_normal((count, width), dtype=np.float32))[0]


def _all(channel: Channel, size: int) -> FloatArray:
    return np.concatenate([block.copy() for block in channel.blocks(size)])


def test_distinct_numbers_rows_by_first_appearance() -> None:
    values = np.array([[3, 0], [1, 2], [3, 0], [0, 1], [1, 2]], dtype=np.float32)
    number, first = distinct(values)
    rows = values[first]
    assert rows.tolist() == [[3, 0], [1, 2], [0, 1]]
    assert number.tolist() == [0, 1, 0, 2, 1]


@given(st.lists(st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.5]), min_size=3, max_size=3), max_size=30))
def test_distinct_rows_restore_the_original_to_the_byte(lists: list[list[float]]) -> None:
    values = np.array(lists, dtype=np.float32).reshape(-1, 3)
    number, first = distinct(values)
    rows = values[first]
    assert len(rows) == len({row.tobytes() for row in values})
    assert rows[number].tobytes() == values.tobytes()


def test_distinct_survives_rows_of_equal_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "einsum", lambda _, rows, __: np.zeros(len(rows), dtype=np.uint64))
    values = np.array([[3, 0], [1, 2], [3, 0], [0, 1]], dtype=np.float32)
    number, first = distinct(values)
    rows = values[first]
    assert rows[number].tolist() == values.tolist()
    assert number.tolist() == [0, 1, 0, 2]


def test_matrix_names_each_distinct_row_by_the_first_id_that_has_it() -> None:
    values = np.array([[1, 0], [0, 1], [1, 0]], dtype=np.float32)
    entries, number = matrix(Vectors(("a", "b", "c"), values))
    assert entries.ids == ("a", "b")
    assert number.tolist() == [0, 1, 0]
    assert len(matrix(Vectors((), np.empty((0, 1), dtype=np.float32)))[1]) == 0


def test_matrix_for_an_approximate_index_has_every_row_once() -> None:  # case I05
    values = np.repeat(np.eye(20, dtype=np.float32), [2] + [1] * 19, axis=0)
    vectors = Vectors(tuple(f"i{row}" for row in range(21)), values)
    entries, number = matrix(vectors, keep_few=False)
    assert (len(entries.ids), number.tolist()) == (20, [0, *range(20)])
    assert len(matrix(vectors)[0].ids) == 21


def test_matrix_with_few_repeats_copies_nothing_and_scores_the_first_alone() -> None:
    values = np.eye(9, dtype=np.float32)[[0, 1, 2, 3, 4, 5, 6, 7, 1]]
    vectors = Vectors(tuple("abcdefghi"), values)
    entries, number = matrix(vectors)
    assert entries is vectors
    assert number.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 1]


def test_place_and_select_keep_what_is_absent() -> None:
    assert place(["a", "b"], ["b", "x", "a", "b"]).tolist() == [1, -1, 0, 1]
    assert select(np.array([5, 7]), np.array([1, -1, 0])).tolist() == [7, -1, 5]
    assert select(np.array([], dtype=np.int64), np.array([-1, -1])).tolist() == [-1, -1]


def test_unit_rows_of_lengths_from_tiny_to_huge() -> None:  # case E05, E06
    rows, usable = unit_rows(np.array([[3, 4], [3e38, 0], [1e-42, 0], [0, 0], [np.nan, 1], [np.inf, 1]], np.float32))
    assert usable.tolist() == [True, True, True, False, False, False]
    assert rows.tolist() == pytest.approx(np.array([[0.6, 0.8], [1, 0], [1, 0], [0, 0], [0, 0], [0, 0]]))


def test_unit_rows_of_a_zero_vector_in_half_precision() -> None:  # case E06
    rows, usable = unit_rows(np.zeros((1, 4), dtype=np.float16))
    assert rows.dtype == np.float32
    assert (usable.tolist(), rows.tolist()) == ([False], [[0, 0, 0, 0]])


def test_blocks_put_every_score_in_its_place() -> None:
    entries = ["aa", "bbbb"]
    channel = Channel("t", Lengths(entries), ["x", "yyy"], np.array([1, -1, 0, 1]), np.array([-1, 1, 0, 1]))
    miss = -np.inf
    wanted = [[miss, -1, -1, -1], [miss] * 4, [miss, -3, -1, -3], [miss, -1, -1, -1]]
    for size in (1, 2, 3, 4, 100):
        assert _all(channel, size).tolist() == wanted


def test_blocks_where_the_first_query_retrieves_nothing() -> None:
    channel = Channel("t", Lengths(["aa"]), ["x", "yyy"], np.array([-1, 0, 1]), np.array([0]))
    assert _all(channel, 3).tolist() == [[-np.inf], [-1], [-1]]


def test_blocks_where_no_item_has_a_part() -> None:
    channel = Channel("t", Lengths([]), ["x"], np.array([0, -1]), np.array([-1, -1]))
    assert _all(channel, 2).tolist() == [[-np.inf, -np.inf]] * 2


def test_every_distinct_query_is_scored_once_whatever_order_the_vectors_lie_in() -> None:
    generator = np.random.default_rng(3)
    searcher = Products(_unit(generator, 7, 4))
    order = generator.permutation(3 * TILE + 5)
    channel = Channel("t", searcher, _unit(generator, len(order), 4), order, np.arange(7))
    assert len(_all(channel, 64)) == len(order)
    assert searcher.calls == [TILE, TILE, TILE, 5]


@pytest.mark.parametrize("size", [TILE - 1, TILE, TILE + 1, 3 * TILE])
def test_blocks_that_cross_tiles_hold_the_same_scores(size: int) -> None:
    queries = _unit(np.random.default_rng(3), 2 * TILE + 5, 4)
    channel = Channel("t", Products(queries[:7]), queries, np.arange(len(queries)), np.arange(7))
    assert len(next(channel.blocks(size))) == min(size, len(queries))
    assert _all(channel, size).tobytes() == _all(channel, 1).tobytes()


@dataclass(frozen=True)
class Constant:
    """Gives the same rows whatever it is asked."""

    scores: list[list[float]]

    def rows(self, queries: Sequence[str]) -> FloatArray:
        return np.array(self.scores, dtype=np.float32)


@pytest.mark.parametrize(
    ("scores", "message"),
    [([[1, 2], [0, np.nan]], "a score that is NaN"), ([[1, 2]], "the searcher gave 1 rows; wanted one a query")],
)
def test_a_searcher_that_breaks_its_contract_is_named(scores: list[list[float]], message: str) -> None:  # case I03
    channel = Channel("text", Constant(scores), ["x", "y"], np.arange(2), np.arange(2))
    with pytest.raises(ValueError, match=rf"channel 'text', 2 distinct queries from number 0 on: .*{message}"):
        list(channel.blocks(2))


# Issue: 200 duplicates among 5,000 items, 300 queries, of which 40 repeat another; not square.
QUERIES, ITEMS, WIDTH = 300, 5_000, 33


@pytest.fixture(scope="module")
def planted() -> tuple[Channel, dict[str, dict[str, float]]]:
    """A channel over repeated items and queries, and graded relevance with several relevant items each."""
    generator = np.random.default_rng(11)
    items, queries = _unit(generator, ITEMS, WIDTH), _unit(generator, QUERIES, WIDTH)
    items[generator.choice(ITEMS, 200, replace=False)] = items[generator.integers(0, ITEMS, 200)]
    queries[generator.choice(QUERIES, 40, replace=False)] = queries[generator.integers(0, QUERIES, 40)]
    entries, columns = matrix(Vectors(tuple(f"i{item}" for item in range(ITEMS)), items))
    asking, rows = matrix(Vectors(tuple(f"q{query}" for query in range(QUERIES)), queries))
    repeated = np.flatnonzero(np.bincount(columns)[columns] > 1)
    relevant = {
        f"q{query}": {
            f"i{item}": 1.0 + item % 3 for item in (repeated[query % len(repeated)], query, 17 * query % ITEMS)
        }
        for query in range(QUERIES)
    }
    return Channel("dense", Products(entries.values), asking.values, rows, columns), relevant


def _ranks(channel: Channel, relevant: dict[str, dict[str, float]], size: int) -> list[Ranks]:
    """Forward ranks from blocks of the size, and reverse ranks from the same scores transposed, in such blocks."""
    queries, items = [f"q{query}" for query in range(QUERIES)], [f"i{item}" for item in range(ITEMS)]
    forward = RankCounter(Direction.t2v, queries, items, relevant, 20)
    scores = np.empty((QUERIES, ITEMS), dtype=np.float32)
    start = 0
    for block in channel.blocks(size):
        scores[start : start + len(block)] = block
        forward.add(np.arange(start, start + len(block)), block)
        start += len(block)
    backward = RankCounter(Direction.v2t, items, queries, reverse(relevant), 20)
    for start in range(0, ITEMS, size):
        turned = scores[:, start : start + size].T
        backward.add(np.arange(start, start + len(turned)), turned)
    return [forward.finish(), backward.finish()]


@pytest.mark.parametrize("size", [1, 64])
def test_ranks_ties_and_numbers_do_not_depend_on_the_block(
    planted: tuple[Channel, dict[str, dict[str, float]]], size: int
) -> None:
    channel, relevant = planted
    for whole, parts in zip(_ranks(channel, relevant, ITEMS), _ranks(channel, relevant, size), strict=True):
        for name in ("query", "item", "gain", "higher", "tied", "before", "retrieved"):
            assert np.array_equal(getattr(whole, name), getattr(parts, name)), name
        for expected, found in zip(whole.top, parts.top, strict=True):
            assert expected[0].tolist() == found[0].tolist()
            assert expected[1].tobytes() == found[1].tobytes()
        assert tied_queries(whole) == tied_queries(parts) > 100
        for rule in TieRule:
            assert evaluate(whole, (1, 10), rule) == evaluate(parts, (1, 10), rule)
        assert bounds(whole, (1, 10)) == bounds(parts, (1, 10)) != {}


def test_duplicates_are_tied_with_one_another_exactly(planted: tuple[Channel, dict[str, dict[str, float]]]) -> None:
    channel, _ = planted
    scores = _all(channel, 64)
    _, first, number = np.unique(channel.columns, return_index=True, return_inverse=True)
    assert len(first) < len(number)
    assert np.array_equal(scores, scores[:, first[number]])
    _, asked, turn = np.unique(channel.query_rows, return_index=True, return_inverse=True)
    assert len(asked) < len(turn)
    assert np.array_equal(scores, scores[asked[turn]])
