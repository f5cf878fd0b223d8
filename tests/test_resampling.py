"""The bootstrap against scipy, closed forms and resamples drawn by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from glyphrank import resampling
from glyphrank.records import IntArray
from glyphrank.resampling import RESAMPLES, Median, group_sums, mean_intervals, median_intervals, medians
from glyphrank.ties import Numbers

SMALL = st.lists(st.tuples(st.sampled_from([0.0, 0.3, 0.5, 1.0, 7.0]), st.integers(0, 4)), min_size=1, max_size=25)


def _alone(count: int) -> IntArray:
    return np.arange(count)


def _skewed(count: int, columns: int = 3) -> Numbers:
    return np.random.default_rng(1).exponential(1.0, (count, columns))


def _by_hand(values: Numbers, groups: IntArray, median: Median | None = None) -> Numbers:
    """(m, 2) percentile intervals from 4,000 resamples drawn one by one: all queries of each drawn group, joined."""
    generator = np.random.default_rng(2)
    members = [np.flatnonzero(groups == number) for number in np.unique(groups)]
    found = []
    for _ in range(4_000):
        drawn = values[np.concatenate([members[group] for group in generator.integers(0, len(members), len(members))])]
        found.append(drawn.mean(axis=0) if median is None else medians(drawn, median))
    return np.asarray(np.percentile(found, [2.5, 97.5], axis=0).T)


@pytest.mark.parametrize("count", [10, 40, 300])
def test_intervals_of_means_are_scipys_within_the_error_of_resampling(count: int) -> None:
    values = _skewed(count)
    expected = stats.bootstrap(
        (values,), np.mean, axis=0, n_resamples=20_000, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    error = values.std(axis=0) / np.sqrt(count) * 0.13  # four standard errors of both percentiles
    low, high = mean_intervals(values, _alone(count)).T
    assert (np.abs(low - expected.low) < error).all()
    assert (np.abs(high - expected.high) < error).all()


def test_intervals_of_a_share_are_the_binomials_percentiles() -> None:
    values = (np.arange(200) < 70).astype(np.float64)[:, None]
    expected = stats.binom(200, 0.35).ppf([0.025, 0.975]) / 200
    assert mean_intervals(values, _alone(200))[0] == pytest.approx(expected, abs=0.0051)


def test_resampled_means_have_the_variance_of_the_closed_form() -> None:
    values = np.random.default_rng(4).standard_normal((400, 50))
    widths = np.diff(mean_intervals(values, _alone(400)), axis=1)[:, 0]
    expected = 2 * 1.96 * values.std(axis=0) / np.sqrt(400)
    assert (widths / expected).mean() == pytest.approx(1, abs=0.01)


def test_groups_of_equal_size_are_resampled_as_their_means() -> None:
    values, groups = _skewed(240), np.repeat(np.random.default_rng(5).permutation(60), 4)
    means = group_sums(values, groups) / 4
    assert mean_intervals(values, groups) == pytest.approx(mean_intervals(means, _alone(60)))


@pytest.mark.parametrize("median", [None, *Median])
def test_groups_of_many_sizes_are_resampled_as_by_hand(median: Median | None) -> None:
    generator = np.random.default_rng(6)
    groups = np.minimum(generator.geometric(0.03, 200), 40)
    values = np.floor(generator.lognormal(3, 1, (200, 2)) * (1 + groups[:, None] % 3))
    found = mean_intervals(values, groups) if median is None else median_intervals(values, groups, median)
    expected = _by_hand(values, groups, median)
    assert found == pytest.approx(expected, rel=0.05)


def test_intervals_over_groups_that_agree_are_wider() -> None:
    values, groups = np.repeat(_skewed(60), 5, axis=0), np.repeat(_alone(60), 5)
    grouped, ungrouped = (np.diff(mean_intervals(values, numbers), axis=1) for numbers in (groups, _alone(300)))
    assert (grouped / ungrouped).mean() == pytest.approx(np.sqrt(5), rel=0.05)


@pytest.mark.parametrize("count", [9, 10, 101, 600, 2_727])
def test_intervals_of_the_upper_median_have_the_closed_form(count: int) -> None:
    ordered = np.sort(np.random.default_rng(7).permutation(5 * count)[:count]).astype(np.float64)
    # The upper middle of a resample is at most the j-th value where more than count // 2 draws fall on the first j.
    reached = stats.binom.sf(count // 2, count, np.arange(1, count + 1) / count)
    low, high = (int(np.searchsorted(reached, share)) for share in (0.025, 0.975))
    found = np.searchsorted(ordered, median_intervals(ordered[:, None], _alone(count))[0])
    assert abs(found - [low, high]).max() <= 1 + 0.054 * np.sqrt(count)  # four standard errors of a percentile


@pytest.mark.parametrize("count", [10, 11, 300])
def test_intervals_of_the_mean_of_two_middles_are_scipys(count: int) -> None:
    values = np.floor(np.random.default_rng(8).lognormal(3, 1, (count, 1)))
    expected = stats.bootstrap(
        (values,), np.median, axis=0, n_resamples=20_000, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    found = median_intervals(values, _alone(count), Median.mean_of_middles)
    assert found[0] == pytest.approx([expected.low[0], expected.high[0]], abs=1)


def test_both_medians_are_one_for_an_odd_number_of_queries() -> None:
    values = np.floor(_skewed(101) * 50)
    upper, mean = (median_intervals(values, _alone(101), median) for median in Median)
    assert (upper == mean).all()


def test_differences_of_medians_are_paired() -> None:
    ranks = np.floor(np.random.default_rng(9).lognormal(3, 1.5, (301, 1)))
    shifted = np.hstack([ranks + 4, ranks])
    assert median_intervals(shifted, _alone(301), baseline=ranks[:, 0]).tolist() == [[4, 4], [0, 0]]
    assert np.diff(median_intervals(ranks, _alone(301)))[0, 0] > 0


@pytest.mark.parametrize("median", list(Median))
def test_differences_of_medians_are_as_by_hand(median: Median) -> None:
    generator = np.random.default_rng(10)
    first, second = np.floor(generator.lognormal(3, 1, (2, 150)))
    drawn = generator.integers(0, 150, (10_000, 150))
    apart = medians(first[drawn].T, median) - medians(second[drawn].T, median)
    found = median_intervals(first[:, None], _alone(150), median, baseline=second)
    assert found[0] == pytest.approx(np.percentile(apart, [2.5, 97.5]), abs=1)


@given(SMALL)
@settings(max_examples=30)
def test_intervals_hold_the_value(drawn: list[tuple[float, int]]) -> None:
    values, groups = np.array([[value] for value, _ in drawn]), np.array([group for _, group in drawn])
    low, high = mean_intervals(values, groups)[0]
    assert low <= values.mean() <= high
    for median in Median:
        low, high = median_intervals(values, groups, median)[0]
        assert low <= medians(values, median)[0] <= high
        assert values.min() <= low
        assert high <= values.max()


def test_names_and_order_of_groups_do_not_matter() -> None:
    values, groups = _skewed(50), np.repeat(np.arange(10), 5)
    assert mean_intervals(values, groups * 100 - 3) == pytest.approx(mean_intervals(values, groups))
    rows = np.random.default_rng(11).permutation(50)
    assert mean_intervals(values[rows], groups[rows]) == pytest.approx(mean_intervals(values, groups))


def test_the_same_question_has_the_same_answer_whoever_else_is_asked() -> None:
    values = np.floor(_skewed(120, 30) * 20)
    for intervals in (mean_intervals, median_intervals):
        together = intervals(values, _alone(120))
        assert intervals(values[:, :1], _alone(120)) == pytest.approx(together[:1], rel=1e-12)
        assert (intervals(values, _alone(120)) == together).all()


@pytest.mark.parametrize("cells", [300, 1 << 24])
def test_intervals_do_not_depend_on_the_size_of_the_blocks(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.floor(_skewed(90) * 20)
    expected = mean_intervals(values, _alone(90)), median_intervals(values, _alone(90))
    monkeypatch.setattr(resampling, "CELLS", cells)
    assert mean_intervals(values, _alone(90)) == pytest.approx(expected[0], rel=1e-12)
    assert (median_intervals(values, _alone(90)) == expected[1]).all()


def test_the_ends_leave_out_one_resample_in_forty_on_each_side() -> None:
    # The mean of 2 queries, 0 and 1, is 0, 1/2 and 1 in a quarter, a half and a quarter of resamples.
    assert mean_intervals(np.array([[0.0], [1.0]]), _alone(2)).tolist() == [[0, 1]]
    # Of 6 queries with a single 1 the mean is 0 in a third, and above 1/2 in fewer than one in forty.
    ones = np.zeros((6, 1))
    ones[0] = 1
    assert stats.binom(6, 1 / 6).sf(3) < 0.025 < stats.binom(6, 1 / 6).sf(2)
    assert mean_intervals(ones, _alone(6)).tolist() == [[0, 0.5]]
    assert RESAMPLES == 10_000


@pytest.mark.parametrize(
    ("values", "groups", "message"),
    [
        (np.zeros((3, 1)), _alone(2), r"\(3, 1\) with groups of shape \(2,\); wanted \(q, m\) and \(q,\)"),
        (np.zeros(3), _alone(3), "wanted"),
        (np.zeros((0, 1)), _alone(0), "wanted"),
        (np.array([[1.0], [np.nan]]), _alone(2), "leave out queries without a relevant item"),
    ],
)
def test_wrong_shapes_and_missing_values_are_refused(values: Numbers, groups: IntArray, message: str) -> None:
    for intervals in (mean_intervals, median_intervals):
        with pytest.raises(ValueError, match=message):
            intervals(values, groups)
