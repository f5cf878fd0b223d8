"""Which interval stands round which metric."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glyphrank.intervals import intervals, slice_interval, tail_share
from glyphrank.metrics import evaluate, per_query
from glyphrank.records import IntArray, Ranks
from glyphrank.resampling import Median, mean_intervals, median_intervals
from glyphrank.significance import wilson
from glyphrank.ties import Numbers, TieRule
from ranked import MISS, rank

NAN = float("nan")


def _alone(count: int) -> IntArray:
    return np.arange(count)


def _values(hits: list[float], ranks: list[float]) -> dict[str, Numbers]:
    return {"hit_rate_at_1": np.array(hits), "best_rank": np.array(ranks)}


def _random_run(queries: int, items: int, seed: int) -> Ranks:
    """Queries with one relevant item each, scored at random with a bonus; few different scores make ties."""
    generator = np.random.default_rng(seed)
    scores = generator.integers(0, 30, (queries, items)).astype(float)
    gold = generator.integers(0, items, queries)
    scores[np.arange(queries), gold] += generator.integers(0, 20, queries)
    names = [f"i{item}" for item in range(items)]
    relevant = {f"q{query}": {names[item]: 1.0} for query, item in enumerate(gold)}
    return rank({f"q{query}": row.tolist() for query, row in enumerate(scores)}, names, relevant)


def test_every_metric_has_an_interval_round_its_value() -> None:
    ranks = _random_run(60, 40, 1)
    for rule in TieRule:
        metrics = evaluate(ranks, (1, 7), rule)
        (found,) = intervals([per_query(ranks, (1, 7), rule)], _alone(60))
        assert found.keys() == metrics.keys()
        assert all(low <= metrics[name] <= high for name, (low, high) in found.items())
        assert all(low < high for low, high in found.values())


def test_hit_rates_have_wilsons_interval_and_what_equals_them_has_it_too() -> None:
    ranks = _random_run(60, 40, 2)
    values = per_query(ranks, (1,), TieRule.pessimistic)
    (found,) = intervals([values], _alone(60))
    for k in (1, 3, 5, 10):
        assert found[f"hit_rate_at_{k}"] == wilson(values[f"hit_rate_at_{k}"].sum(), 60)
        assert found[f"recall_at_{k}"] == found[f"hit_rate_at_{k}"]
    assert found["ndcg_at_1"] == found["hit_rate_at_1"]


def test_everything_else_has_the_bootstraps() -> None:
    values = per_query(_random_run(60, 40, 3), (1,), TieRule.pessimistic)
    (found,) = intervals([values], _alone(60))
    assert found["ndcg_at_10"] == tuple(mean_intervals(values["ndcg_at_10"][:, None], _alone(60))[0])
    best = values["best_rank"][:, None]
    assert found["mean_rank"] == tuple(mean_intervals(best, _alone(60))[0])
    assert found["median_rank"] == tuple(median_intervals(best, _alone(60))[0])


def test_hit_rates_that_are_fractions_have_the_bootstraps() -> None:
    values = _values([0.5, 1, 0, 0.25] * 10, [1, 2, 3, 4] * 10)
    (found,) = intervals([values], _alone(40))
    assert found["hit_rate_at_1"] == tuple(mean_intervals(values["hit_rate_at_1"][:, None], _alone(40))[0])


def test_grouped_hit_rates_have_the_bootstraps() -> None:
    values, groups = _values([0.0, 0, 1, 1] * 10, [3, 3, 1, 1] * 10), np.repeat(_alone(20), 2)
    (found,) = intervals([values], groups)
    assert found["hit_rate_at_1"] == tuple(mean_intervals(values["hit_rate_at_1"][:, None], groups)[0])
    low, high = wilson(20, 40)
    assert found["hit_rate_at_1"][1] - found["hit_rate_at_1"][0] > high - low


def test_where_all_or_none_are_hits_nothing_is_certain() -> None:
    ranks: list[float] = [2.0] * 6
    groups = np.array([0, 0, 1, 1, 2, 2])
    for hits, share in ((0.0, 0), (1.0, 1)):
        values = _values([hits] * 6, ranks) | {"ndcg_at_10": np.full(6, hits)}
        (alone,), (grouped,) = intervals([values], _alone(6)), intervals([values], groups)
        assert alone["ndcg_at_10"] == alone["hit_rate_at_1"] == wilson(6 * share, 6)
        assert grouped["ndcg_at_10"] == grouped["hit_rate_at_1"] == wilson(3 * share, 3)


def test_shares_that_are_all_alike_are_not_certain_either() -> None:
    values = {"ndcg_at_10": np.full(8, 0.63), "hit_rate_at_1": np.full(8, 1 / 3), "best_rank": np.full(8, 3.0)}
    (alone,) = intervals([values], _alone(8))
    assert alone["ndcg_at_10"] == pytest.approx(wilson(0.63 * 8, 8))
    assert alone["hit_rate_at_1"] == pytest.approx(wilson(8 / 3, 8))  # as the rule `average` may give
    assert slice_interval("ndcg_at_10", values, np.repeat(_alone(4), 2)) == pytest.approx(wilson(0.63 * 4, 4))
    assert slice_interval("ndcg_at_10", values, np.zeros(8, dtype=np.int64)) is None


def test_groups_of_equal_means_are_not_certain_whatever_their_sizes() -> None:
    hits, groups = [1.0, 0, 1, 0, 0, 1, 1, 0] * 5, np.repeat(_alone(20), 2)
    (found,) = intervals([_values(hits, [1] * 40)], groups)
    assert found["hit_rate_at_1"] == pytest.approx(wilson(10, 20))
    thirds, sizes = np.array([0.1, 0.2, 0.3] * 7 + [0.2] * 9), np.array([0, 0, 0, *np.repeat(_alone(9) + 1, 3)])
    assert slice_interval("ndcg_at_10", {"ndcg_at_10": thirds}, sizes) == pytest.approx(wilson(2, 10))


def test_ranks_that_are_all_alike_have_an_interval_without_width() -> None:
    (found,) = intervals([_values([0.0] * 5, [7] * 5)], _alone(5))
    assert found["median_rank"] == found["mean_rank"] == (7, 7)


def test_queries_without_a_relevant_item_are_left_out() -> None:  # case M05
    with_them = _values([1, NAN, 0, 1, NAN, 0, 1], [1, NAN, 4, 1, NAN, 9, 1])
    without = _values([1, 0, 1, 0, 1], [1, 4, 1, 9, 1])
    assert intervals([with_them], _alone(7)) == intervals([without], _alone(5))
    groups = np.array([0, 9, 0, 1, 8, 1, 2])
    assert intervals([with_them], groups) == intervals([without], np.array([0, 0, 1, 1, 2]))


def test_what_needs_a_bootstrap_is_left_out_where_all_queries_are_one_group() -> None:
    (found,) = intervals([_values([1, 0, 1], [1, 2, 1])], np.zeros(3, dtype=np.int64))
    assert found == {}
    (one,) = intervals([_values([1], [1])], _alone(1))
    assert one == {"hit_rate_at_1": wilson(1, 1)}


def test_no_query_with_a_relevant_item_has_no_interval() -> None:
    values = _values([NAN, NAN], [NAN, NAN])
    assert intervals([values], _alone(2)) == [{}]
    assert slice_interval("hit_rate_at_1", values, _alone(2)) is None
    assert intervals([], _alone(2)) == []


def test_the_mean_of_the_middles_stands_only_where_it_differs() -> None:
    (differing,) = intervals([_values([1] * 4, [1, 2, 4, 9])], _alone(4))
    (alike,) = intervals([_values([1] * 4, [1, 2, 2, 9])], _alone(4))
    assert "median_rank_mean" in differing
    assert "median_rank_mean" not in alike
    expected = median_intervals(np.array([[1.0], [2], [4], [9]]), _alone(4), Median.mean_of_middles)
    assert differing["median_rank_mean"] == tuple(expected[0])


def test_ranks_of_truncated_lists_are_named_so() -> None:
    (found,) = intervals([_values([1, 0, 1, 0], [1, 2, 4, 9])], _alone(4), truncated=True)
    assert list(found) == [
        "hit_rate_at_1",
        "median_rank_truncated",
        "median_rank_mean_truncated",
        "mean_rank_truncated",
    ]


def test_runs_are_measured_together_as_they_are_alone() -> None:
    runs = [per_query(_random_run(50, 30, seed), (1,), TieRule.pessimistic) for seed in range(3)]
    together = intervals(runs, _alone(50))
    for run, found in zip(runs, together, strict=True):
        (alone,) = intervals([run], _alone(50))
        assert {name: pytest.approx(ends, rel=1e-12) for name, ends in alone.items()} == found


def test_runs_over_different_queries_are_refused() -> None:
    runs = [_values([1, NAN], [1, NAN]), _values([NAN, 1], [NAN, 1])]
    with pytest.raises(ValueError, match="wanted the same queries and groups for all"):
        intervals(runs, _alone(2))
    with pytest.raises(ValueError, match="wanted the same queries and groups for all"):
        intervals(runs[:1], _alone(3))


@pytest.mark.parametrize("metric", ["hit_rate_at_1", "median_rank", "median_rank_mean", "mean_rank"])
def test_a_slice_has_the_interval_of_its_queries_alone(metric: str) -> None:
    values = _values([1, 0, NAN, 1, 0, 1], [1, 3, NAN, 1, 5, 1])
    (found,) = intervals([values], _alone(6))
    if metric != "median_rank_mean":  # five queries: one middle
        assert slice_interval(metric, values, _alone(6)) == found[metric]
    if metric != "hit_rate_at_1":
        assert slice_interval(f"{metric}_truncated", values, _alone(6)) == slice_interval(metric, values, _alone(6))
    assert slice_interval(metric, values, np.zeros(6, dtype=np.int64)) is None


ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.integers(1, 50), st.integers(0, 6)), min_size=1, max_size=30
)


@given(ROWS)
@settings(max_examples=30)
def test_intervals_hold_the_value_and_stay_in_the_metrics_range(rows: list[tuple[float, int, int]]) -> None:
    hits, ranks, groups = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    values: Mapping[str, Numbers] = {"hit_rate_at_1": hits, "best_rank": ranks}
    for numbers in (groups.astype(np.int64), _alone(len(rows))):
        (found,) = intervals([values], numbers)
        low, high = found.get("hit_rate_at_1", (0.0, 1.0))
        assert 0 <= low <= hits.mean() + 1e-12
        assert hits.mean() - 1e-12 <= high <= 1
        low, high = found.get("mean_rank", (ranks.mean(), ranks.mean()))
        assert ranks.min() <= low <= ranks.mean() <= high <= ranks.max()


def test_an_item_that_is_not_retrieved_counts_with_the_gallerys_size() -> None:  # case M04
    ranks = rank({"q1": [2, MISS, 1], "q2": [MISS, MISS, MISS]}, "abx", {"q1": {"a": 1}, "q2": {"a": 1}})
    (found,) = intervals([per_query(ranks, (1,), TieRule.pessimistic)], _alone(2))
    assert found["mean_rank"] == (1, 3)
    assert found["hit_rate_at_10"] == wilson(1, 2)


def test_the_worst_twentieth_of_queries_is_rounded_up() -> None:
    assert tail_share(np.array([1.0] * 19 + [81.0])) == 0.81
    assert tail_share(np.array([1.0] * 20 + [40.0, 40.0])) == 0.8  # 2 of 22
    assert tail_share(np.array([5.0, NAN, 5.0])) == 0.5
    assert tail_share(np.array([3.0])) == 1


@given(st.lists(st.integers(1, 1_000), min_size=1, max_size=100))
def test_the_tails_share_is_no_less_than_its_share_of_queries(ranks: list[int]) -> None:
    share = tail_share(np.array(ranks, dtype=np.float64))
    assert math.ceil(len(ranks) / 20) / len(ranks) - 1e-12 <= share <= 1


def test_no_rank_has_no_tail() -> None:
    with pytest.raises(ValueError, match="no query has a rank"):
        tail_share(np.array([NAN]))
