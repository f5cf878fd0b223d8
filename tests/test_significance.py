"""Tests and shares against scipy, closed forms and definitions written down anew."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from glyphrank import significance
from glyphrank.records import IntArray
from glyphrank.resampling import Median
from glyphrank.significance import holm, sign_flip_test, swap_test, wilson
from glyphrank.ties import Numbers

EXCHANGES = 10_000


def _alone(count: int) -> IntArray:
    return np.arange(count)


def _column(values: list[float]) -> Numbers:
    return np.array(values, dtype=np.float64)[:, None]


def _p_value(values: list[float], groups: list[int] | None = None) -> float:
    return float(sign_flip_test(_column(values), _alone(len(values)) if groups is None else np.array(groups))[0])


@pytest.mark.parametrize(("hits", "trials"), [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (411, 600), (2726, 2727)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_wilsons_interval_is_scipys(hits: int, trials: int, level: float) -> None:
    expected = stats.binomtest(hits, trials).proportion_ci(level, method="wilson")
    assert wilson(hits, trials, level) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(st.integers(1, 5_000), st.floats(0, 1))
def test_wilsons_interval_holds_the_share_and_touches_the_ends_only_there(trials: int, share: float) -> None:
    hits = int(share * trials)
    low, high = wilson(hits, trials)
    assert 0 <= low <= hits / trials <= high <= 1
    assert (low == 0) == (hits == 0)
    assert (high == 1) == (hits == trials)


@pytest.mark.parametrize(
    ("hits", "trials", "level", "message"),
    [
        (0, 0, 0.95, "trials is 0; wanted more than 0"),
        (3, 2, 0.95, "hits is 3; wanted 0 to 2"),
        (-1, 2, 0.95, "hits is -1; wanted 0 to 2"),
        (1, 2, 1.0, "level is 1.0; wanted more than 0 and less than 1"),
    ],
)
def test_wilson_refuses_what_is_no_share(hits: int, trials: int, level: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wilson(hits, trials, level)


@pytest.mark.parametrize("count", [2, 5, 9, 12])
def test_few_differences_have_scipys_exact_p_value(count: int) -> None:
    values = np.random.default_rng(count).standard_normal((count, 3)) + 0.4
    expected = [
        stats.permutation_test(
            (column,), lambda sample, axis: sample.sum(axis), permutation_type="samples", n_resamples=np.inf
        ).pvalue
        for column in values.T
    ]
    assert sign_flip_test(values, _alone(count)) == pytest.approx(expected)


@pytest.mark.parametrize(("better", "worse", "equal"), [(5, 1, 30), (9, 4, 500), (13, 0, 0), (0, 3, 0), (6, 6, 4)])
def test_few_hits_gained_and_lost_have_the_p_value_of_the_sign_test(better: int, worse: int, equal: int) -> None:
    values = [1.0] * better + [-1.0] * worse + [0.0] * equal
    assert _p_value(values) == pytest.approx(stats.binomtest(better, better + worse).pvalue)


@pytest.mark.parametrize(("better", "worse"), [(20, 10), (60, 45), (30, 30), (200, 150)])
def test_many_hits_gained_and_lost_come_near_the_sign_test(better: int, worse: int) -> None:
    expected = stats.binomtest(better, better + worse).pvalue
    error = np.sqrt(expected * (1 - expected) / EXCHANGES)
    assert _p_value([1.0] * better + [-1.0] * worse) == pytest.approx(expected, abs=4 * error + 1e-4)


def test_many_continuous_differences_come_near_the_t_test() -> None:
    values = np.random.default_rng(3).standard_normal((500, 4)) + np.array([0, 0.05, 0.1, 0.12])
    expected = stats.ttest_1samp(values, 0).pvalue
    assert sign_flip_test(values, _alone(500)) == pytest.approx(expected, abs=0.015)


def test_one_query_says_nothing() -> None:
    assert _p_value([0.7]) == 1
    assert _p_value([1.0, 1.0, 1.0], [4, 4, 4]) == 1


def test_no_difference_at_all_has_p_1() -> None:
    assert sign_flip_test(np.zeros((40, 2)), _alone(40)).tolist() == [1, 1]


def test_differences_that_cancel_have_p_1() -> None:
    assert _p_value([0.1, 0.2, -0.3]) == 1
    assert _p_value([0.1, 0.2, -0.3] * 10) == 1


def test_sums_that_differ_by_rounding_only_count_as_equal() -> None:
    # (0.1 + 0.2) + 0.3 and 0.1 + (0.2 + 0.3) differ in the last bit; the exact answer is 2 of 8.
    assert _p_value([0.1, 0.2, 0.3]) == 0.25
    assert _p_value([0.3, 0.1, 0.2]) == 0.25
    assert _p_value([0.1] * 13) == 2 / 2**13


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.1, 0.63, 1.0]), min_size=1, max_size=40))
def test_p_values_are_above_0_and_do_not_depend_on_who_is_first(values: list[float]) -> None:
    assert 0 < _p_value(values) <= 1
    assert _p_value(values) == _p_value([-value for value in values])


def test_the_differences_of_a_group_change_sign_together() -> None:
    # 3 groups with sums 3, 2 and -1: |total| of at least 4 in 4 of 8 patterns (6 and 4, and their mirrors).
    values, groups = [1.0, 1, 1, 2, -1], [0, 0, 0, 4, 2]
    totals = [abs(a * 3 + b * 2 - c) for a, b, c in itertools.product((1, -1), repeat=3)]
    assert _p_value(values, groups) == sum(total >= 4 for total in totals) / 8 == 0.5
    assert _p_value(values) < 0.5


def test_a_group_whose_differences_cancel_does_not_count() -> None:
    assert _p_value([1.0, 1, 1, 0.5, -0.5], [0, 1, 2, 3, 3]) == 0.25


def test_each_query_repeated_is_no_more_evidence_where_repeats_are_grouped() -> None:
    values = np.random.default_rng(5).standard_normal((60, 1)) + 0.3
    once = sign_flip_test(values, _alone(60))
    assert sign_flip_test(np.repeat(values, 4, axis=0), np.repeat(_alone(60), 4)) == pytest.approx(once)
    assert sign_flip_test(np.repeat(values, 4, axis=0), _alone(240))[0] < once[0] / 2


def test_a_column_has_the_p_value_it_would_have_alone() -> None:
    values = np.random.default_rng(6).standard_normal((50, 5)) * (np.arange(5) > 0)
    values[9:, 1] = 0  # few differences: exact, beside random ones
    together = sign_flip_test(values, _alone(50))
    assert together[0] == 1
    assert together.tolist() == [sign_flip_test(values[:, [column]], _alone(50))[0] for column in range(5)]


def test_a_large_family_gets_exchanges_enough_to_reject() -> None:
    values = np.ones((60, 1))
    assert sign_flip_test(values, _alone(60)) == pytest.approx(1 / (EXCHANGES + 1))
    alone, in_family = (sign_flip_test(values, _alone(60), family)[0] for family in (1, 1_000))
    assert in_family == pytest.approx(1 / 100_001)
    assert alone * 1_000 > 0.05 > in_family * 1_000


@pytest.mark.parametrize("cells", [300, 1 << 24])
def test_p_values_do_not_depend_on_the_size_of_the_blocks(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(7).standard_normal((70, 3)) + 0.1
    first, second = np.random.default_rng(8).integers(1, 90, (2, 70)).astype(np.float64)
    nearly = np.where(np.arange(70) < 11, first, second)  # few differences: every exchange is tried

    def p_values() -> list[float]:
        swapped = [swap_test(first, other, _alone(70)) for other in (second, nearly)]
        return [*sign_flip_test(values, _alone(70)).tolist(), *swapped]

    expected = p_values()
    monkeypatch.setattr(significance, "CELLS", cells)
    assert p_values() == expected


@pytest.mark.parametrize(
    ("values", "groups", "message"),
    [
        (np.zeros((3, 1)), _alone(2), r"\(3, 1\) with groups of shape \(2,\); wanted \(q, m\) and \(q,\)"),
        (np.zeros(3), _alone(3), "wanted"),
        (np.zeros((0, 1)), _alone(0), "wanted"),
        (_column([1.0, np.nan]), _alone(2), "a value is not finite"),
    ],
)
def test_wrong_shapes_and_missing_values_are_refused(values: Numbers, groups: IntArray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sign_flip_test(values, groups)


def test_a_family_has_at_least_one_test() -> None:
    with pytest.raises(ValueError, match="family is 0; wanted at least 1"):
        sign_flip_test(np.ones((3, 1)), _alone(3), 0)


def _upper(rows: Numbers) -> Numbers:
    return np.asarray(np.sort(rows, axis=-1)[..., rows.shape[-1] // 2])


def _middle(rows: Numbers) -> Numbers:
    return np.asarray(np.median(rows, axis=-1))


STATISTICS: dict[Median, Callable[[Numbers], Numbers]] = {
    Median.upper_middle: _upper,
    Median.mean_of_middles: _middle,
}


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(0, 5)), min_size=1, max_size=9))
def test_medians_of_few_queries_have_the_p_value_of_all_exchanges(drawn: list[tuple[int, int, int]]) -> None:
    first, second, groups = (np.array(column) for column in zip(*drawn, strict=True))
    names = np.unique(groups)
    patterns = np.array(list(itertools.product((False, True), repeat=len(names))))
    swapped = patterns[:, np.searchsorted(names, groups)]
    for median, statistic in STATISTICS.items():
        apart = statistic(np.where(swapped, second, first)) - statistic(np.where(swapped, first, second))
        expected = np.mean(np.abs(apart) >= abs(apart[0]))
        found = swap_test(first.astype(np.float64), second.astype(np.float64), groups, median)
        assert found == pytest.approx(float(expected))


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("median", list(Median))
def test_medians_of_many_queries_come_near_exchanges_done_by_hand(median: Median, grouped: bool) -> None:
    generator = np.random.default_rng(9)
    groups = generator.integers(0, 60, 300) if grouped else _alone(300)
    first = np.floor(generator.lognormal(2, 1.5, 300)) + 1
    second = np.floor(first * generator.lognormal(0.05, 0.9, 300)) + 1
    swapped = (generator.random((5_000, 300)) < 0.5)[:, groups]
    statistic = STATISTICS[median]
    apart = statistic(np.where(swapped, second, first)) - statistic(np.where(swapped, first, second))
    expected = float(np.mean(np.abs(apart) >= abs(statistic(first) - statistic(second))))
    assert 0.01 < expected < 0.9
    assert swap_test(first, second, groups, median) == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(5_000))


def test_medians_of_equal_runs_have_p_1() -> None:
    ranks = np.arange(1.0, 200)
    assert swap_test(ranks, ranks, _alone(199)) == 1


def test_medians_far_apart_have_the_least_p_value() -> None:
    near, far = np.arange(1.0, 101), np.arange(1_000.0, 1_100)
    assert swap_test(near, far, _alone(100)) == pytest.approx(1 / (EXCHANGES + 1))
    assert swap_test(near, far, np.repeat([0, 1], 50)) == 0.5


def _by_definition(p_values: list[float]) -> list[float]:
    """Holm's step-down: the k-th smallest of n counts (n - k + 1)-fold, and none less than one before it."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted = [0.0] * len(p_values)
    for turn, place in enumerate(order):
        before = order[: turn + 1]
        adjusted[place] = min(1.0, max((len(p_values) - k) * p_values[p] for k, p in enumerate(before)))
    return adjusted


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_is_its_definition(p_values: list[float]) -> None:
    assert holm(p_values).tolist() == pytest.approx(_by_definition(p_values))
    assert all(adjusted >= raw for adjusted, raw in zip(holm(p_values), p_values, strict=True))


def test_holm_of_a_worked_example() -> None:
    # The example of Wikipedia's article on the method: at .05 the first and the last are rejected.
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])


@pytest.mark.parametrize("value", [1.5, -0.1, float("nan")])
def test_holm_refuses_what_is_no_probability(value: float) -> None:
    with pytest.raises(ValueError, match=r"wanted numbers in \[0, 1\]"):
        holm([0.5, value])
