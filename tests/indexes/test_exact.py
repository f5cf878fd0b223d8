"""Exact search: cosines of distinct vectors, and refusal of anything that is not a unit row."""

from __future__ import annotations

import numpy as np
import pytest

from glyphrank.indexes.exact import Exact
from glyphrank.records import FloatArray, Vectors
from glyphrank.scoring import unit_rows


def unit(*rows: list[float]) -> FloatArray:
    values, usable = unit_rows(np.array(rows, dtype=np.float32))
    assert usable.all()
    return values


def test_rows_are_cosines_of_queries_against_entries() -> None:
    searcher = Exact().build(Vectors(("a", "b", "c"), unit([1, 0], [0, 1], [3, 4])))
    rows = searcher.rows(unit([1, 0], [4, 3]))
    assert rows.dtype == np.float32
    assert rows == pytest.approx(np.array([[1, 0, 0.6], [0.8, 0.6, 0.96]]), abs=1e-6)


def test_rows_of_no_query_are_empty() -> None:
    searcher = Exact().build(Vectors(("a", "b"), unit([1, 0], [0, 1])))
    assert searcher.rows(np.empty((0, 2), dtype=np.float32)).shape == (0, 2)


def test_rows_when_a_query_is_not_a_unit_row() -> None:  # case E05
    searcher = Exact().build(Vectors(("a",), unit([1, 0])))
    with pytest.raises(ValueError, match=r"query number 1 .* squared length 4\.0; wanted 1"):
        searcher.rows(np.array([[1, 0], [2, 0]], dtype=np.float32))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 0.0])
def test_rows_when_a_query_is_not_finite_or_zero(bad: float) -> None:  # case I03
    searcher = Exact().build(Vectors(("a",), unit([1, 0])))
    with pytest.raises(ValueError, match="query number 0"):
        searcher.rows(np.array([[bad, 0]], dtype=np.float32))


def test_rows_when_a_query_has_another_width() -> None:
    searcher = Exact().build(Vectors(("a",), unit([1, 0])))
    with pytest.raises(ValueError, match=r"shape \(1, 3\); wanted \(b, 2\)"):
        searcher.rows(np.ones((1, 3), dtype=np.float32))


def test_rows_when_lengths_were_unequal_before_normalising() -> None:  # case E05
    texts = [[10.0, 10.0], [0.1, 0.0]]
    raw = np.array(texts, dtype=np.float32) @ np.array([1, 0], dtype=np.float32)
    rows = Exact().build(Vectors(("long", "short"), unit(*texts))).rows(unit([1, 0]))
    assert raw.argmax() == 0
    assert rows[0].argmax() == 1


def test_rows_when_the_values_are_a_column_ordered_array() -> None:
    values = unit([1, 0, 0], [0, 0.6, 0.8])
    turned = Exact().build(Vectors(("a", "b"), np.asfortranarray(values)))
    straight = Exact().build(Vectors(("a", "b"), values))
    assert np.array_equal(turned.rows(values), straight.rows(values))
