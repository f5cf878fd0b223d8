"""What must hold of every metric under every tie rule, on random small rankings: graded, tied, not retrieved."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glyphrank.metrics import bounds, evaluate, names, per_query
from glyphrank.records import Ranks
from glyphrank.ties import TieRule
from ranked import MISS, rank

CUTOFFS = (1, 2, 3, 4, 7)
FRACTIONS = [name for name in names(CUTOFFS) if not name.endswith("_rank")]
SCORES = st.sampled_from([MISS, 0.0, 0.5, 1.0])
GAINS = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0])


@st.composite
def rankings(draw: st.DrawFn, most: int = 12) -> Ranks:
    """Up to 3 queries over up to `most` items, of few different scores; the first query has a relevant item."""
    count = draw(st.integers(1, most))
    items = [f"i{item}" for item in range(count)]
    rows, relevant = {}, {}
    for query in ("q1", "q2", "q3")[: draw(st.integers(1, 3))]:
        rows[query] = draw(st.lists(SCORES, min_size=count, max_size=count))
        gains = draw(st.lists(GAINS, min_size=count, max_size=count))
        relevant[query] = {item: gain for item, gain in zip(items, gains, strict=True) if gain}
    relevant["q1"] = relevant["q1"] or {items[-1]: 1.0}
    return rank(rows, items, relevant)


@given(rankings(), st.sampled_from(list(TieRule)))
@settings(max_examples=400, deadline=None)
def test_every_metric_lies_in_its_range(ranks: Ranks, rule: TieRule) -> None:
    numbers = evaluate(ranks, CUTOFFS, rule)
    assert all(0 <= numbers[name] <= 1 for name in FRACTIONS)
    assert 1 <= numbers["median_rank"] <= len(ranks.item_ids)
    assert 1 <= numbers["mean_rank"] <= len(ranks.item_ids)


@given(rankings(), st.sampled_from(list(TieRule)))
@settings(deadline=None)
def test_metrics_grow_with_the_cutoff_and_bound_each_other(ranks: Ranks, rule: TieRule) -> None:
    values = per_query(ranks, CUTOFFS, rule)
    evaluated = np.unique(ranks.query)
    for lower, upper in itertools.pairwise((1, 2, 3, 4, 5, 7, 10)):
        for metric in ("hit_rate", "recall"):
            assert (values[f"{metric}_at_{lower}"] <= values[f"{metric}_at_{upper}"] + 1e-12)[evaluated].all()
    for k in CUTOFFS:
        if rule is not TieRule.textvr:  # its hits are those of the released code, for which no group has a first place
            assert (values[f"recall_at_{k}"] <= values[f"hit_rate_at_{k}"] + 1e-12)[evaluated].all()


@given(rankings(), st.sampled_from(list(TieRule)))
@settings(max_examples=400, deadline=None)
def test_every_number_lies_between_its_bounds(ranks: Ranks, rule: TieRule) -> None:
    numbers, limits = evaluate(ranks, CUTOFFS, rule), bounds(ranks, CUTOFFS, rule)
    orders = [evaluate(ranks, CUTOFFS, order) for order in TieRule if order is not TieRule.textvr]
    for name, value in numbers.items():
        worst, best = limits.get(name, (value, value))
        low, high = (best, worst) if name.startswith(("median", "mean")) else (worst, best)
        assert low <= value <= high, name
        for order in orders:
            assert low - 1e-12 <= order.get(name, order["median_rank"]) <= high + 1e-12, name


@given(rankings())
@settings(max_examples=200, deadline=None)
def test_every_order_lies_between_pessimistic_and_optimistic(ranks: Ranks) -> None:
    worst, best = (per_query(ranks, CUTOFFS, rule) for rule in (TieRule.pessimistic, TieRule.optimistic))
    for rule in TieRule:
        for name, value in per_query(ranks, CUTOFFS, rule).items():
            if rule is TieRule.textvr and name.startswith(("best_rank", "hit_rate")):
                continue  # no order gives these; `bounds` takes them in
            low, high = (best, worst) if name == "best_rank" else (worst, best)
            assert (value >= low[name] - 1e-12)[np.unique(ranks.query)].all()
            assert (value <= high[name] + 1e-12)[np.unique(ranks.query)].all()


@given(rankings())
@settings(deadline=None)
def test_without_ties_all_rules_agree(ranks: Ranks) -> None:
    order = ranks.higher + ranks.before
    alone = Ranks(**{**vars(ranks), "higher": order, "tied": ranks.tied * 0 + 1, "before": ranks.before * 0})
    reference = evaluate(alone, CUTOFFS, TieRule.document_id)
    assert bounds(alone, CUTOFFS) == {}
    for rule in TieRule:
        assert evaluate(alone, CUTOFFS, rule) == reference


@given(
    st.lists(st.sampled_from([MISS, 0.0, 1.0]), min_size=1, max_size=6),
    st.lists(GAINS, min_size=6, max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_average_is_the_mean_over_all_orders_of_ties(scores: list[float], gains: list[float]) -> None:
    items = [f"i{item}" for item in range(len(scores))]
    relevant = {item: gain for item, gain in zip(items, gains, strict=False) if gain} or {"i0": 1.0}
    expectation = per_query(rank({"q": scores}, items, {"q": relevant}), CUTOFFS, TieRule.average)
    every = [_measured(order, scores, items, relevant) for order in itertools.permutations(range(len(scores)))]
    for name in every[0]:
        assert expectation[name][0] == pytest.approx(np.mean([numbers[name] for numbers in every])), name


def _measured(
    order: Sequence[int], scores: Sequence[float], items: Sequence[str], relevant: Mapping[str, float]
) -> dict[str, float]:
    """Metrics of one list: sorted by score, ties in the order given."""
    ranked = [items[item] for item in sorted(order, key=lambda item: -scores[item]) if scores[item] > MISS]
    places = [place for place, item in enumerate(ranked, start=1) if item in relevant]
    best = min(places, default=len(items))
    numbers: dict[str, float] = {"best_rank": best}
    numbers["reciprocal_rank_at_10"] = 1 / best if places and best <= 10 else 0.0
    for k in CUTOFFS:
        found = [place for place in places if place <= k]
        gained = sum(relevant[ranked[place - 1]] / np.log2(place + 1) for place in found)
        ideal = sum(
            gain / np.log2(place + 1) for place, gain in enumerate(sorted(relevant.values(), reverse=True)[:k], start=1)
        )
        numbers[f"hit_rate_at_{k}"] = float(bool(found))
        numbers[f"recall_at_{k}"] = len(found) / len(relevant)
        numbers[f"ndcg_at_{k}"] = gained / ideal
    return numbers
