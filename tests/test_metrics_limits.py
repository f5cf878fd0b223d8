"""Limits of the metrics: bounds over the orders of ties, cut-offs beyond the gallery, gains of any size."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from glyphrank.metrics import bounds, evaluate
from glyphrank.records import Ranks
from glyphrank.ties import TieRule, swayed
from ranked import MISS, rank

RULES = list(TieRule)
TIED = [9.0, 5.0, 5.0, 5.0, 5.0, 1.0]


def _one(relevant: dict[str, float], scores: list[float]) -> Ranks:
    return rank({"q": scores}, "abcdef"[: len(scores)], {"q": relevant})


def test_bounds_are_the_worst_and_the_best_order() -> None:
    limits = bounds(_one({"b": 1, "d": 3}, TIED), (5,))
    assert limits["mean_rank"] == (4, 2)
    assert limits["hit_rate_at_3"] == (0, 1)
    assert "recall_at_5" not in limits  # the whole group lies within 5 places
    assert "ndcg_at_1" not in limits


def test_bounds_hold_the_value_of_the_rule_they_stand_beside() -> None:
    ranks = _one({"a": 1, "b": 1}, [5.0, 5.0, 1.0])  # no order matters, but the released code ranks both at 1.5
    assert bounds(ranks, (1,)) == {}
    limits = bounds(ranks, (1,), TieRule.textvr)
    assert limits == {"hit_rate_at_1": (0, 1), "median_rank": (1.5, 1), "mean_rank": (1.5, 1)}


def test_metrics_are_swayed_by_more_than_half_a_point_or_half_a_rank() -> None:
    limits = {
        "hit_rate_at_1": (0.5, 0.506),
        "v2t/ndcg_at_10": (0.506, 0.5),
        "recall_at_3": (0.5, 0.505),  # not more than half a point, though 0.505 - 0.5 is no exact 0.005
        "reciprocal_rank_at_10": (0.3, 0.31),  # a fraction, for all its name
        "mean_rank": (3.0, 2.5),
        "median_rank_truncated": (3.0, 2.0),
        "v2t/mean_rank_truncated": (3.0, 2.6),
        "v2t/median_rank_mean": (3.0, 2.25),
    }
    assert swayed(limits) == (
        "hit_rate_at_1",
        "v2t/ndcg_at_10",
        "reciprocal_rank_at_10",
        "median_rank_truncated",
        "v2t/median_rank_mean",
    )


def test_bounds_of_the_mean_median_take_the_median_where_both_are_the_same() -> None:
    rows = {"q1": [9.0, 9.0, 9.0, 1.0], "q2": [9.0, 8.0, 7.0, 6.0]}
    ranks = rank(rows, "abcd", {"q1": {"a": 1}, "q2": {"c": 1}})  # q1 from 1 to 3, q2 at 3
    limits = bounds(ranks, (1,))
    assert "median_rank_mean" not in evaluate(ranks, (1,), TieRule.pessimistic)
    assert limits["median_rank_mean"] == (3, 2)
    assert "median_rank" not in limits


@pytest.mark.parametrize("rule", RULES)
def test_textvr_discounts_and_recalls_at_places_of_their_own(rule: TieRule) -> None:
    numbers = evaluate(_one({"a": 1, "b": 1, "c": 1}, [5.0, 5.0, 5.0, 1.0]), (2,), rule)
    assert [numbers[f"recall_at_{k}"] for k in (1, 2, 3)] == pytest.approx([1 / 3, 2 / 3, 1])
    assert numbers["hit_rate_at_1"] == (0 if rule is TieRule.textvr else 1)


@pytest.mark.parametrize("rule", RULES)
def test_cutoffs_beyond_the_gallery_see_all_of_it_at_no_cost(rule: TieRule) -> None:  # case M17
    ranks = rank({"q": [5.0, 5.0, 1.0, MISS]}, "abcd", {"q": {"a": 1, "d": 2}})
    tracemalloc.start()
    start = time.perf_counter()
    numbers = evaluate(ranks, (4, 10**8, 10**30), rule)
    assert time.perf_counter() - start < 1
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()
    for name in ("hit_rate", "recall", "ndcg"):
        assert numbers[f"{name}_at_{10**8}"] == numbers[f"{name}_at_{10**30}"] == numbers[f"{name}_at_4"]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("unit", [1e307, 5e-324, 1e-200])
def test_gains_of_any_size_count_by_their_ratios(rule: TieRule, unit: float) -> None:
    scores = [5.0, 5.0, 5.0, 4.0, 3.0, 2.0]
    gains = {"a": 1, "c": 17, "d": 4, "f": 16}
    small = evaluate(_one({item: float(gain) for item, gain in gains.items()}, scores), (2,), rule)
    assert evaluate(_one({item: gain * unit for item, gain in gains.items()}, scores), (2,), rule) == pytest.approx(
        small
    )


def test_bounds_without_ties_are_empty() -> None:
    assert bounds(_one({"b": 1}, [3.0, 2.0, 1.0]), (5,)) == {}
