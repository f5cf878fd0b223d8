"""Metrics on hand-written rankings: the conventions, one at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from glyphrank.benchmark import Benchmark
from glyphrank.errors import DataError
from glyphrank.metrics import Protocol, evaluate, names, per_query, prefix, sliced
from glyphrank.ranking import RankCounter, reverse
from glyphrank.records import Direction, Ranks, Source, View
from glyphrank.ties import TieRule, tied_queries
from ranked import MISS, rank

RULES = list(TieRule)
EIGHT = [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
ITEMS = "abcdefgh"


def _one(relevant: dict[str, float], scores: list[float] = EIGHT) -> Ranks:
    return rank({"q": scores}, ITEMS[: len(scores)], {"q": relevant})


def test_one_relevant_item_at_rank_3() -> None:
    numbers = evaluate(_one({"c": 1}), (1, 3), TieRule.pessimistic)
    assert [numbers[f"hit_rate_at_{k}"] for k in (1, 3, 5, 10)] == [0, 1, 1, 1]
    assert [numbers[f"recall_at_{k}"] for k in (1, 3, 5, 10)] == [0, 1, 1, 1]
    assert [numbers[f"ndcg_at_{k}"] for k in (1, 3, 5, 10)] == [0, 0.5, 0.5, 0.5]
    assert numbers["reciprocal_rank_at_10"] == pytest.approx(1 / 3)
    assert (numbers["median_rank"], numbers["mean_rank"]) == (3, 3)
    assert "median_rank_mean" not in numbers


def test_hit_rate_is_any_found_and_recall_is_the_share() -> None:
    numbers = evaluate(_one({"a": 1, "d": 1, "h": 1}), (2,), TieRule.pessimistic)
    assert [numbers[f"hit_rate_at_{k}"] for k in (1, 2, 5)] == [1, 1, 1]
    assert [numbers[f"recall_at_{k}"] for k in (1, 2, 5)] == pytest.approx([1 / 3, 1 / 3, 2 / 3])
    assert numbers["mean_rank"] == 1


def test_ndcg_has_linear_gain_and_an_ideal_truncated_at_k() -> None:
    numbers = evaluate(_one({"b": 3, "c": 1, "h": 2}), (2,), TieRule.pessimistic)
    gained, ideal = 3 / math.log2(3), 3 + 2 / math.log2(3)
    assert numbers["ndcg_at_2"] == pytest.approx(gained / ideal)
    assert numbers["ndcg_at_3"] == pytest.approx((gained + 0.5) / (ideal + 0.5))


def test_ndcg_of_a_perfect_list_is_exactly_1_whatever_the_order_of_the_judgements() -> None:
    generator = np.random.default_rng(2)
    for _ in range(100):
        gains = dict(zip("gadbfc", generator.random(6).tolist(), strict=True))
        scores = [gains.get(item, 0.0) for item in ITEMS]
        for rule in RULES:
            numbers = evaluate(_one(gains, scores), (7,), rule)
            assert all(numbers[f"ndcg_at_{k}"] == 1 for k in (1, 3, 5, 7, 10))


def test_ndcg_counts_the_relevant_items_that_were_not_found() -> None:  # case M04
    ranks = rank({"q1": [2, MISS, 1], "q2": [MISS, MISS, MISS]}, "abx", {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}})
    values = per_query(ranks, (10,), TieRule.pessimistic)
    assert values["ndcg_at_10"].tolist() == pytest.approx([0.6131, 0], abs=5e-5)
    assert evaluate(ranks, (10,), TieRule.pessimistic)["ndcg_at_10"] == pytest.approx(0.6131 / 2, abs=5e-5)


def test_no_query_with_a_relevant_item_is_an_error() -> None:  # case M04
    ranks = rank({"q1": [1, 2], "q2": [1, 2]}, "ab", {})
    for ask in (evaluate, per_query):
        with pytest.raises(DataError, match="none of the 2 queries has a relevant item"):
            ask(ranks, (10,), TieRule.pessimistic)


def test_a_query_without_relevant_items_changes_nothing() -> None:  # case M05
    rows = {"q1": [0.1, 0.2, 0.3], "q2": [0.9, 0.1, 0.1], "q3": [0.1, 0.2, 0.3]}
    relevant: dict[str, dict[str, float]] = {"q1": {"a": 1}, "q2": {}, "q3": {"c": 1}}
    ranks = rank(rows, "abc", relevant)
    values = per_query(ranks, (1,), TieRule.pessimistic)
    assert np.isnan(values["ndcg_at_1"]).tolist() == [False, True, False]
    without = rank({"q1": rows["q1"], "q3": rows["q3"]}, "abc", {"q1": {"a": 1}, "q3": {"c": 1}})
    assert evaluate(ranks, (1,), TieRule.pessimistic) == evaluate(without, (1,), TieRule.pessimistic)


def test_two_evaluations_in_one_process_are_equal_to_the_byte() -> None:  # case M05
    generator = np.random.default_rng(5)
    rows = {f"q{query}": generator.integers(0, 4, 30).astype(float).tolist() for query in range(40)}
    relevant = {query: {str(item): 1.0 + item % 3 for item in range(0, 30, 7)} for query in list(rows)[::2]}
    for rule in RULES:
        first, second = (
            per_query(rank(rows, [str(item) for item in range(30)], relevant), (7,), rule) for _ in range(2)
        )
        assert {name: value.tobytes() for name, value in first.items()} == {
            name: value.tobytes() for name, value in second.items()
        }


@pytest.mark.parametrize("rule", RULES)
def test_an_item_that_was_not_retrieved_has_the_gallerys_size_as_rank(rule: TieRule) -> None:  # case M18
    ranks = rank({"q": [MISS, 0.5, MISS, 0.1]}, "abcd", {"q": {"a": 1}})
    numbers = evaluate(ranks, (4, 100), rule)
    assert numbers["mean_rank"] == numbers["median_rank"] == 4
    assert numbers["hit_rate_at_100"] == numbers["recall_at_100"] == numbers["ndcg_at_100"] == 0
    assert numbers["reciprocal_rank_at_10"] == 0


def test_unretrievable_items_do_not_shrink_the_gallery() -> None:  # case M18
    broken = rank({"q1": [MISS, 0.9, 0.1], "q2": [MISS, 0.9, 0.1]}, "abc", {"q1": {"a": 1}, "q2": {"b": 1}})
    numbers = evaluate(broken, (1,), TieRule.pessimistic)
    assert numbers["hit_rate_at_1"] == 0.5
    assert numbers["mean_rank"] == 2


def test_median_rank_is_the_upper_middle_and_the_mean_stands_beside_it_when_it_differs() -> None:
    rows = {f"q{query}": EIGHT for query in range(4)}
    ranks = rank(rows, ITEMS, {"q0": {"a": 1}, "q1": {"b": 1}, "q2": {"e": 1}, "q3": {"h": 1}})
    numbers = evaluate(ranks, (1,), TieRule.pessimistic)
    assert (numbers["median_rank"], numbers["median_rank_mean"], numbers["mean_rank"]) == (5, 3.5, 4)


# A group of four (b c d e) below one higher item (a); of the group, b has gain 1 and d has gain 3.
TIED = [9.0, 5.0, 5.0, 5.0, 5.0, 1.0]


@pytest.mark.parametrize(
    ("rule", "best", "ndcg_terms"),
    [
        ("pessimistic", 4, [(1, 4), (3, 5)]),
        ("optimistic", 2, [(3, 2), (1, 3)]),
        ("document_id", 3, [(3, 3), (1, 5)]),
        ("textvr", 3.5, [(1, 3), (3, 4)]),
    ],
)
def test_places_inside_a_tied_group(rule: str, best: float, ndcg_terms: list[tuple[float, float]]) -> None:
    numbers = evaluate(_one({"b": 1, "d": 3}, TIED), (5,), TieRule(rule))
    gained = sum(gain / math.log2(place + 1) for gain, place in ndcg_terms)
    assert numbers["mean_rank"] == best
    assert numbers["ndcg_at_5"] == pytest.approx(gained / (3 + 1 / math.log2(3)))


def test_average_of_a_tied_group_is_the_expectation() -> None:
    numbers = evaluate(_one({"b": 1, "d": 3}, TIED), (2, 3), TieRule.average)
    assert numbers["hit_rate_at_1"] == 0
    assert numbers["hit_rate_at_2"] == pytest.approx(2 / 4)
    assert numbers["hit_rate_at_3"] == pytest.approx(1 - (2 * 1) / (4 * 3))
    assert numbers["recall_at_3"] == pytest.approx(2 / 4)
    assert numbers["mean_rank"] == pytest.approx(1 + 5 / 3)
    assert numbers["reciprocal_rank_at_10"] == pytest.approx((3 / 2 + 2 / 3 + 1 / 4) / 6)
    assert numbers["ndcg_at_2"] == pytest.approx((4 / 4 / math.log2(3)) / (3 + 1 / math.log2(3)))


@pytest.mark.parametrize(("rule", "hit"), [("pessimistic", 0), ("optimistic", 1), ("textvr", 0), ("average", 0.2)])
def test_a_constant_scorer_is_flattered_by_the_optimistic_rule_alone(rule: str, hit: float) -> None:  # case M01
    for items in ("abcde", "cabde", "edcba"):
        ranks = rank({"q": [0.5] * 5}, items, {"q": {"a": 1}})
        assert evaluate(ranks, (1,), TieRule(rule))["hit_rate_at_1"] == pytest.approx(hit)


@pytest.mark.parametrize(
    ("scores", "relevant", "count"),
    [
        ([3, 2, 1], {"a": 1}, 0),
        ([3, 3, 1], {"c": 1}, 0),  # the tie is among others
        ([3, 3, 1], {"a": 1}, 1),
        ([3, 3, 1], {"a": 1, "b": 1}, 0),  # equally relevant: no order changes a number
        ([3, 3, 1], {"a": 1, "b": 2}, 1),
        ([3, 3, 3], {"a": 1, "b": 1}, 1),
        ([MISS, MISS, 1], {"a": 1}, 0),  # not retrieved is no tie
    ],
)
def test_tied_queries_are_those_whose_numbers_an_order_can_change(
    scores: list[float], relevant: dict[str, float], count: int
) -> None:
    assert tied_queries(_one(relevant, scores)) == count


def test_sliced_gives_each_value_its_own_means() -> None:
    rows = {"q1": [3, 2, 1], "q2": [3, 2, 1], "q3": [3, 2, 1], "q4": [3, 2, 1]}
    ranks = rank(rows, "abc", {"q1": {"a": 1}, "q2": {"c": 1}, "q3": {"b": 1}})
    table = sliced(ranks, (1,), TieRule.pessimistic, {"q1": "text", "q2": "visual", "q3": "text", "q4": "empty"})
    assert {value: numbers["queries"] for value, numbers in table.items()} == {"empty": 0, "text": 2, "visual": 1}
    assert (table["text"]["hit_rate_at_1"], table["text"]["mean_rank"]) == (0.5, 1.5)
    assert table["visual"]["mean_rank"] == 3
    assert table["empty"] == {"queries": 0}


def test_ranks_from_truncated_lists_are_named_so() -> None:  # case M17
    scores = [100.0 - item for item in range(10)] + [MISS] * 90
    ranks = rank({"q": scores, "none": [MISS] * 100}, [f"d{item}" for item in range(100)], {"q": {"d60": 1}})
    cut = Ranks(**{**vars(ranks), "truncated": True})
    numbers = evaluate(cut, (10, 50), TieRule.pessimistic)
    assert (numbers["median_rank_truncated"], numbers["mean_rank_truncated"]) == (11, 11)
    assert not {"median_rank", "mean_rank"} & set(numbers)
    assert numbers["hit_rate_at_50"] == 0  # rank 11 is no hit
    assert evaluate(ranks, (10,), TieRule.pessimistic)["mean_rank"] == 100


def test_truncated_ranks_without_their_lists_are_refused() -> None:  # case M17
    cut = Ranks(**{**vars(rank({"q": [1, MISS]}, "ab", {"q": {"b": 1}}, depth=0)), "truncated": True})
    with pytest.raises(ValueError, match="came without the lists"):
        evaluate(cut, (10,), TieRule.pessimistic)


# Three clips with 1, 2 and 3 captions; rows are captions, columns are clips.
CAPTIONS = {"x1": "x", "y1": "y", "y2": "y", "z1": "z", "z2": "z", "z3": "z"}
SCORES = np.array(
    [[0.9, 0.1, 0.2], [0.8, 0.15, 0.4], [0.1, 0.7, 0.6], [0.95, 0.2, 0.1], [0.3, 0.6, 0.5], [0.2, 0.1, 0.55]],
    dtype=np.float32,
)


def test_ragged_captions_in_both_directions() -> None:  # case M10
    relevant = {caption: {clip: 1.0} for caption, clip in CAPTIONS.items()}
    forward = RankCounter(Direction.t2v, list(CAPTIONS), "xyz", relevant, 0)
    forward.add(np.arange(6), SCORES)
    assert evaluate(forward.finish(), (1,), TieRule.pessimistic)["hit_rate_at_1"] == pytest.approx(3 / 6)
    backward = RankCounter(Direction.v2t, "xyz", list(CAPTIONS), reverse(relevant), 0)
    backward.add(np.arange(3), SCORES.T)
    values = per_query(backward.finish(), (3,), TieRule.pessimistic)
    assert values["best_rank"].tolist() == [2, 1, 2]  # the best own caption: x1 below z1; y2 first; z3 below y2
    assert values["hit_rate_at_3"].tolist() == [1, 1, 1]
    assert values["recall_at_3"].tolist() == pytest.approx([1, 1 / 2, 2 / 3])


def test_names_are_those_that_evaluate_gives() -> None:
    assert set(names((50, 1))) == set(evaluate(_one({"c": 1}), (50, 1), TieRule.pessimistic))


def test_prefix_marks_the_reverse_direction() -> None:
    assert [prefix(Direction.t2v), prefix(Direction.v2t)] == ["", "v2t/"]


def _protocol(**changes: Any) -> Protocol:
    fields: dict[str, Any] = {
        "cutoffs": (1, 5),
        "directions": (Direction.t2v,),
        "ties": TieRule.pessimistic,
        "views": (View.text,),
        "sources": (Source.embedded,),
        "benchmark": None,
        "primary": "ndcg_at_10",
        "group": "item",
    }
    return Protocol(**{**fields, **changes})


def test_protocol_takes_a_primary_of_its_directions() -> None:
    both = (Direction.t2v, Direction.v2t)
    assert _protocol(primary="v2t/hit_rate_at_5", directions=both).primary == "v2t/hit_rate_at_5"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cutoffs": ()}, r"cutoffs is \[\]"),
        ({"cutoffs": (1, 1)}, r"cutoffs is \[1, 1\]"),
        ({"cutoffs": (0, 1)}, "at least 1"),
        ({"views": ()}, "views"),
        ({"sources": ()}, r"sources is \[\]; wanted at least one"),
        ({"sources": (Source.scene, Source.scene)}, "sources"),
        ({"directions": ()}, "directions"),
        (
            {"benchmark": Benchmark.kopub_task1, "views": tuple(View)},
            "views is text, frames, but kopub_task1 allows text ",
        ),
        (
            {"benchmark": Benchmark.kopub_task1, "sources": (Source.scene,)},
            "sources is scene, but kopub_task1 allows emb",
        ),
        (
            {"benchmark": Benchmark.kopub_task2},
            "views is text, but kopub_task2 allows frames only; choose metrics=pages",
        ),
        ({"benchmark": Benchmark.textvr}, "sources is embedded, but textvr allows published, scene only"),
        ({"primary": "ndcg@10"}, "'ndcg@10'; wanted one of hit_rate_at_1"),
        ({"primary": "v2t/ndcg_at_10"}, "wanted one of"),
    ],
)
def test_protocol_refuses_what_it_cannot_measure(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _protocol(**changes)
