"""Numbers that cannot all be true, against a linear programme and against real rankings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from glyphrank.impossible import contradictions, contradictions_as_written, ndcg_limits

CUTOFFS = (1, 3, 5, 10)
PAPER = ({1: 0.41, 3: 0.68, 5: 0.75, 10: 0.82}, {3: 0.46, 5: 0.49, 10: 0.57})
"""Task 1 of SDS KoPub VDR as its paper (arXiv:2511.04910) prints it."""


def test_the_papers_row_is_refused_with_its_limits() -> None:
    found = contradictions(*PAPER, 2)
    assert found[0] == (
        "ndcg_at_3 is 0.46, but recall_at_1 0.41 and recall_at_3 0.68 force it to lie between 0.545 and 0.580 "
        "(between 0.540 and 0.585 with the rounding of each recall)"
    )
    assert [sentence.partition(" is ")[0] for sentence in found] == ["ndcg_at_3", "ndcg_at_5", "ndcg_at_10"]
    limits = [ndcg_limits(PAPER[0], k) for k in (3, 5, 10)]
    assert limits == [pytest.approx(wanted, abs=6e-4) for wanted in [(0.545, 0.580), (0.572, 0.611), (0.592, 0.635)]]


@pytest.mark.parametrize(
    ("recalls", "ndcgs"),
    [
        ((0.398, 0.675, 0.753, 0.817), (0.398, 0.561, 0.594, 0.614)),
        ((0.487, 0.737, 0.812, 0.877), (0.487, 0.633, 0.664, 0.685)),
        ((0.413, 0.682, 0.770, 0.830), (0.413, 0.572, 0.609, 0.628)),
        ((0.479, 0.741, 0.821, 0.863), (0.479, 0.637, 0.670, 0.684)),
        ((0.398, 0.709, 0.796, 0.854), (0.398, 0.579, 0.614, 0.634)),
        ((0.286, 0.540, 0.646, 0.745), (0.286, 0.433, 0.477, 0.509)),
    ],
    ids=["mteb text", "mteb ocr", "BGE-M3 all", "BGE-M3 cross", "BGE-M3 text", "BGE-M3 visual"],
)
def test_rows_that_were_measured_pass(recalls: tuple[float, ...], ndcgs: tuple[float, ...]) -> None:
    named = [dict(zip(CUTOFFS, values, strict=True)) for values in (recalls, ndcgs)]
    assert contradictions(named[0], named[1], 3) == []


@pytest.mark.parametrize(
    ("recalls", "ndcgs", "sentence"),
    [
        ({5: 1.2}, {}, "recall_at_5 is 1.2; wanted a fraction from 0 to 1"),
        ({}, {5: 61.4}, "ndcg_at_5 is 61.4; wanted a fraction from 0 to 1"),
        ({1: float("nan")}, {}, "recall_at_1 is nan; wanted a fraction from 0 to 1"),
        ({1: 0.5, 3: 0.49}, {}, "recall_at_3 is 0.49, below recall_at_1 0.50; it cannot fall as the cut-off grows"),
        ({}, {3: 0.5, 5: 0.49}, "ndcg_at_5 is 0.49, below ndcg_at_3 0.50; it cannot fall as the cut-off grows"),
        (
            {1: 0.5},
            {1: 0.51},
            "ndcg_at_1 is 0.51 and recall_at_1 0.50; with one relevant item a query they are the same",
        ),
        (
            {},
            {1: 0.5, 3: 0.9},
            "ndcg_at_3 is 0.90, but ndcg_at_1 0.50 forces it to lie between 0.500 and 0.815 (between 0.495 and 0.817 "
            "with the rounding of each recall)",
        ),
        (
            {},
            {3: 0.5, 5: 0.95},
            "ndcg_at_5 is 0.95, 0.45 above ndcg_at_3 0.50, but the discount of the places forces this difference to "
            "lie between 0.000 and 0.431",
        ),
        (
            {10: 0.6},
            {3: 0.5, 5: 0.55, 10: 0.59},
            "recall_at_10 0.60, ndcg_at_3 0.50, ndcg_at_5 0.55 and ndcg_at_10 0.59 cannot all be true together, "
            "though each nDCG could beside the recalls",
        ),
    ],
)
def test_a_contradiction_is_a_sentence(recalls: dict[int, float], ndcgs: dict[int, float], sentence: str) -> None:
    assert contradictions(recalls, ndcgs, 2) == [sentence]


def test_a_number_may_be_off_by_half_a_unit_of_its_last_place() -> None:
    assert contradictions({1: 0.40, 3: 0.40}, {3: 0.41}, 2) == []  # 0.405 is either
    assert contradictions({1: 0.400, 3: 0.400}, {3: 0.410}, 3) != []
    assert contradictions({1: 0.413, 3: 0.41}, {}, 2) == []


def test_each_number_is_rounded_as_it_was_written() -> None:
    places = np.repeat([1, 3, 50], [4149, 2700, 3151])
    assert [f"{np.mean(places <= k):.4f}" for k in (1, 3)] == ["0.4149", "0.6849"]
    gains = np.where(places <= 3, 1 / np.log2(places + 1), 0)
    assert f"{np.mean(gains):.3f}" == "0.550"
    assert contradictions_as_written({1: "0.41", 3: "0.68"}, {3: "0.550"}) == []
    places = np.repeat([1, 2, 50], [4149, 2700, 3151])
    assert f"{np.mean(np.where(places <= 3, 1 / np.log2(places + 1), 0)):.3f}" == "0.585"
    assert contradictions_as_written({1: "0.41", 3: "0.68"}, {3: "0.585"}) == []
    assert contradictions_as_written({1: ".7", 3: ".683"}, {}) == []
    assert contradictions_as_written({1: ".413", 3: ".4", 5: ".405"}, {1: ".4"}) == [
        "recall_at_5 is 0.405, below recall_at_1 0.413; it cannot fall as the cut-off grows"
    ]


def test_each_number_is_shown_as_it_was_written() -> None:
    assert contradictions_as_written({1: ".4", 3: ".683"}, {3: "0.46"}) == [
        "ndcg_at_3 is 0.46, but recall_at_1 0.4 and recall_at_3 0.683 force it to lie between 0.5415 and 0.5786 "
        "(between 0.5163 and 0.5973 with the rounding of each recall)"
    ]
    assert contradictions_as_written({1: ".7", 3: ".683"}, {3: ".6"}) == [
        "ndcg_at_3 is 0.6, but recall_at_1 0.7 and recall_at_3 0.683 force it to lie between 0.6663 and 0.6835 with "
        "the rounding of each recall"
    ]


def test_the_finer_of_two_equal_numbers_counts() -> None:
    (found,) = contradictions_as_written({1: ".4", 3: ".683"}, {1: "0.413", 3: ".50"})
    assert "ndcg_at_1 0.413 and recall_at_3 0.683 force it to lie between 0.5480 and 0.5834" in found


@pytest.mark.parametrize(("recalls", "named"), [({0: ".5"}, "cut-off 0"), ({1: "x"}, "'x'")])
def test_what_is_no_number_at_a_cut_off_is_refused(recalls: dict[int, str], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        contradictions_as_written(recalls, {})


def test_nothing_to_compare_is_no_contradiction() -> None:
    assert contradictions({}, {}, 2) == contradictions({}, {10: 0.5}, 2) == contradictions({10: 0.5}, {}, 2) == []


@pytest.mark.parametrize(("recalls", "decimals"), [({0: 0.5}, 2), ({1: 0.5}, -1)])
def test_cut_offs_start_at_1(recalls: dict[int, float], decimals: int) -> None:
    with pytest.raises(ValueError, match="wanted at least 1"):
        contradictions(recalls, {}, decimals)


values = st.dictionaries(st.integers(1, 7), st.integers(0, 20).map(lambda n: n / 20), max_size=3)


@given(values, st.integers(1, 8), st.sampled_from([0.0, 0.02]))
def test_limits_are_those_of_a_linear_programme(recalls: dict[int, float], k: int, rounding: float) -> None:
    rising = dict(zip(sorted(recalls), sorted(recalls.values()), strict=True))
    low, high = ndcg_limits(rising, k, rounding)
    programme = _Programme(rising, {}, rounding)
    assert low == pytest.approx(programme.least(k), abs=1e-7)
    assert high == pytest.approx(-programme.least(k, -1), abs=1e-7)


@given(values, values)
def test_what_a_linear_programme_cannot_solve_is_refused(recalls: dict[int, float], ndcgs: dict[int, float]) -> None:
    found = contradictions(recalls, ndcgs, 1)
    falls = any("fall" in sentence or "same" in sentence for sentence in found)
    assume(not falls)  # sharper than the programme: rounding keeps order
    clearly, perhaps = (_Programme(recalls, ndcgs, rounding).is_solvable() for rounding in (0.0499, 0.0501))
    if clearly == perhaps:  # else it hangs on how the programme rounds
        assert bool(found) is not clearly


@given(st.lists(st.integers(1, 12), min_size=1, max_size=60), st.integers(1, 4))
def test_numbers_of_real_rankings_never_contradict(ranks: list[int], decimals: int) -> None:
    places = np.array(ranks)
    recalls = {k: round(float(np.mean(places <= k)), decimals) for k in CUTOFFS}
    gains = 1 / np.log2(places + 1)
    ndcgs = {k: round(float(np.mean(gains * (places <= k))), decimals) for k in CUTOFFS}
    assert contradictions(recalls, ndcgs, decimals) == []


@given(
    st.lists(st.tuples(st.integers(1, 12), st.integers(1, 2500)), min_size=1, max_size=6),
    st.lists(st.integers(1, 5), min_size=8, max_size=8),
    st.sets(st.integers(0, 7), max_size=6),
)
def test_true_numbers_with_decimals_of_their_own_never_contradict(
    counts: list[tuple[int, int]], decimals: list[int], left_out: set[int]
) -> None:
    places = np.repeat(*np.array(counts).T)
    gains = 1 / np.log2(places + 1)
    exact = [float(np.mean(places <= k)) for k in CUTOFFS] + [float(np.mean(gains * (places <= k))) for k in CUTOFFS]
    written = [f"{value:.{count}f}" for value, count in zip(exact, decimals, strict=True)]
    rows = [{CUTOFFS[n % 4]: written[n] for n in range(first, first + 4) if n not in left_out} for first in (0, 4)]
    assert contradictions_as_written(rows[0], rows[1]) == []


class _Programme:
    """Shares of queries by rank, under the recalls and nDCGs of a row."""

    def __init__(self, recalls: Mapping[int, float], ndcgs: Mapping[int, float], rounding: float) -> None:
        self._size = 9
        places = np.arange(1, self._size + 1)
        self._discounts = 1 / np.log2(places + 1)
        rows = [((places <= k).astype(float), value) for k, value in recalls.items()]
        rows += [(self._discounts * (places <= k), value) for k, value in ndcgs.items()]
        self._above = np.array([np.ones(self._size), *(sign * row for row, _ in rows for sign in (1, -1))])
        self._limits = np.array([1.0, *(sign * value + rounding for _, value in rows for sign in (1, -1))])

    def least(self, k: int, sign: int = 1) -> float:
        """The least nDCG at k; with the sign -1, the largest with its sign turned."""
        weights = sign * self._discounts * (np.arange(1, self._size + 1) <= k)
        return float(self._solved(weights).fun)

    def is_solvable(self) -> bool:
        return bool(self._solved(np.zeros(self._size)).success)

    def _solved(self, weights: np.ndarray[Any, Any]) -> Any:
        optimize: Any = pytest.importorskip("scipy.optimize")
        return optimize.linprog(weights, self._above, self._limits, bounds=(0, 1))
