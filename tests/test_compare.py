"""Runs compared: order, differences, the rank group, the baseline, slices, ties, and what is said beside."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from finished_runs import finished, from_ranks
from glyphrank.compare import How, compare, compare_by
from glyphrank.errors import DataError
from glyphrank.records import Direction
from glyphrank.report.finished import Finished
from glyphrank.ties import TieRule

BOTH = (Direction.t2v, Direction.v2t)
BEST = from_ranks("best", [1] * 12)
CLOSE = from_ranks("close", [1] * 11 + [2])
POOR = from_ranks("poor", [9] * 10 + [1] * 2)
RUNS = (POOR, BEST, CLOSE)


def tied(name: str, places: int, **changes: Any) -> Finished:
    """A run that scores the first items of every query alike, the query's own among them, and all others below."""
    rows = {f"q{query}": [1.0] * places + [0.0] * (10 - places) for query in range(4)}
    return finished(name, rows, {query: {"b": 1.0} for query in rows}, **changes)


def test_the_best_run_stands_first_and_is_the_baseline() -> None:
    found = compare(RUNS)
    assert [run.name for run in found.runs] == ["best", "close", "poor"]
    assert (found.metric, found.baseline, found.best) == ("ndcg_at_10", "best", "best")
    assert (found.queries, found.groups, found.rule) == (12, 12, "pessimistic")
    best = found.runs[0]
    assert (best.difference, best.p_value, best.p_adjusted, best.improved) == (None, None, None, None)


def test_values_and_intervals_are_those_of_all_metrics() -> None:
    for own, run in zip(compare(RUNS).runs, (BEST, CLOSE, POOR), strict=True):
        assert own.values == run.report.metrics
        assert own.intervals.keys() == own.values.keys()
        assert own.identity == run.report.identity


def test_the_difference_is_value_minus_the_baselines_value() -> None:
    close, poor = compare(RUNS).runs[1:]
    assert close.difference == pytest.approx(close.values["ndcg_at_10"] - 1)
    assert (close.improved, close.degraded, close.equal) == (0, 1, 11)
    assert (poor.improved, poor.degraded, poor.equal) == (0, 10, 2)
    low, high = poor.difference_interval or (0, 0)
    assert low <= (poor.difference or 0) <= high < 0


def test_p_values_are_those_of_the_exact_sign_test_and_adjusted_by_holm() -> None:
    close, poor = compare(RUNS, "hit_rate_at_1").runs[1:]
    assert poor.p_value == 2 / 2**10
    assert close.p_value == 1
    assert poor.p_adjusted == 4 / 2**10
    assert close.p_adjusted == 1


def test_the_rank_group_holds_what_is_not_told_from_the_best_whatever_the_baseline() -> None:
    for baseline in (None, "poor", "close"):
        found = compare(RUNS, "hit_rate_at_1", How(baseline=baseline))
        assert {run.name: run.group for run in found.runs} == {"best": True, "close": True, "poor": False}


def test_lower_ranks_are_better() -> None:
    for metric in ("mean_rank", "median_rank", "median_rank_mean"):
        found = compare(RUNS, metric, How(baseline="close"))
        assert [run.name for run in found.runs] == ["best", "close", "poor"]
        poor = found.runs[-1]
        assert (poor.difference or 0) > 0
        assert (poor.improved, poor.degraded) == (1, 10)
        assert poor.group is (metric != "mean_rank")  # ten 9s and two 1s have the median 9 or 1 after any exchange


def test_a_baseline_is_named_by_name_or_identity() -> None:
    for name in ("poor", POOR.report.identity, POOR.report.identity[:6]):
        found = compare(RUNS, how=How(baseline=name))
        assert found.baseline == "poor"
        assert [run.p_value is None for run in found.runs] == [False, False, True]


def test_an_unknown_baseline_is_an_error() -> None:
    with pytest.raises(DataError, match="baseline 'rich' is none of the runs; wanted one of 'poor', 'best', 'close'"):
        compare(RUNS, how=How(baseline="rich"))


def test_one_run_alone_is_shown_without_tests() -> None:
    found = compare([CLOSE])
    (run,) = found.runs
    assert (run.p_value, run.difference, run.group) == (None, None, True)
    assert run.intervals
    assert found.notes == ()


def test_no_run_is_an_error() -> None:
    with pytest.raises(DataError, match="there is no run to compare"):
        compare([])


def test_runs_with_one_result_are_one_row_the_latest() -> None:
    again = replace(BEST, name="again")
    found = compare([BEST, CLOSE, again])
    assert [run.name for run in found.runs] == ["again", "close"]
    assert found.notes == ("runs that gave the very result of a later one, and stand here with it: 1",)


def test_runs_of_one_name_are_told_apart() -> None:
    found = compare([BEST, replace(CLOSE, name="best")])
    assert [run.name for run in found.runs] == [f"best ({run.report.identity[:8]})" for run in (BEST, CLOSE)]


def test_the_metric_is_the_primary_one_of_the_baseline() -> None:
    other = replace(POOR, report=replace(POOR.report, primary="mean_rank"))
    assert compare([BEST, other]).metric == "ndcg_at_10"
    assert compare([BEST, other], how=How(baseline="poor")).metric == "mean_rank"


def test_an_unknown_metric_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(DataError, match=r"no run has the metric 'ndcg@10'; the metrics that there are: hit_rate_at_1,"):
        compare(RUNS, "ndcg@10")


def test_a_report_that_its_ranks_contradict_is_damaged() -> None:
    told = {**POOR.report.metrics, "ndcg_at_10": 0.9}
    damaged = replace(POOR, report=replace(POOR.report, metrics=told))
    with pytest.raises(
        DataError, match=r"run 'poor' is damaged: its report says that ndcg_at_10 is 0\.9, its ranks say"
    ):
        compare([BEST, damaged])


def test_a_report_with_numbers_of_a_direction_that_has_no_ranks_is_damaged() -> None:
    told = {**POOR.report.metrics, "v2t/ndcg_at_10": 0.9}
    with pytest.raises(DataError, match="nothing of it"):
        compare([replace(POOR, report=replace(POOR.report, metrics=told))])


def square(name: str, seed: int, **changes: Any) -> Finished:
    """Six queries and six items, two of which answer two queries each."""
    scores = np.random.default_rng(seed).normal(size=(6, 6))
    relevant = {f"q{query}": {"abccdd"[query]: 1.0} for query in range(6)}
    scores[np.arange(6), [0, 1, 2, 2, 3, 3]] += 1.5
    rows = {f"q{query}": row.tolist() for query, row in enumerate(scores)}
    return finished(name, rows, relevant, protocol={"directions": ["t2v", "v2t"]}, **changes)


def test_the_reverse_direction_has_askers_groups_and_tests_of_its_own() -> None:
    runs = [square("one", 1, directions=BOTH), square("two", 2, directions=BOTH)]
    forward, reverse = compare(runs, "hit_rate_at_1"), compare(runs, "v2t/hit_rate_at_1")
    assert (forward.queries, forward.groups) == (6, 4)
    assert (reverse.queries, reverse.groups) == (4, 4)
    shown = reverse.runs[1]
    assert (shown.improved or 0) + (shown.degraded or 0) + (shown.equal or 0) == 4
    assert {name: value for run in reverse.runs for name, value in run.values.items() if run.name == "one"} == runs[
        0
    ].report.metrics


def test_a_run_without_the_metric_is_left_out_and_named() -> None:
    whole = [square("one", 1, directions=BOTH), square("two", 2, directions=BOTH)]
    approximate = square("near", 3)
    found = compare([*whole, approximate], "v2t/ndcg_at_10")
    assert {run.name for run in found.runs} == {"one", "two"}
    assert "left out, for they have no v2t/ndcg_at_10: 'near'" in found.notes
    with pytest.raises(DataError, match="the baseline 'near' has no v2t/ndcg_at_10"):
        compare([*whole, approximate], "v2t/ndcg_at_10", How(baseline="near"))


def test_a_run_without_the_other_direction_is_compared_and_said_to_lack_it() -> None:
    found = compare([square("one", 1, directions=BOTH), square("near", 3)])
    assert "without numbers of the direction v2t: 'near'" in found.notes
    near = next(run for run in found.runs if run.name == "near")
    assert not any(name.startswith("v2t/") for name in near.values)


def test_allowed_runs_are_counted_anew_on_their_common_queries() -> None:
    longer = from_ranks("longer", [1] * 11 + [2] + [7] * 3, items=20)
    found = compare([POOR, longer], "mean_rank", How(allow=True))
    assert found.queries == 12
    assert found.notes[0].startswith(
        "these runs were not evaluated alike; compared on the queries that all of them have"
    )
    assert found.runs[0].values["mean_rank"] == pytest.approx(13 / 12)
    assert longer.report.metrics["mean_rank"] == pytest.approx(34 / 15)


def test_each_value_of_a_field_has_a_comparison_of_its_own() -> None:
    kinds = {"kind": {f"q{query}": "text" if query < 9 else "figure" for query in range(11)}}
    runs = [
        from_ranks(run.name, ranks, slices_of_queries=kinds)
        for run, ranks in ((BEST, [1] * 12), (POOR, [9] * 10 + [1] * 2))
    ]
    figure, text = compare_by(runs, "kind", "hit_rate_at_1")
    assert (figure.part, figure.queries) == (("kind", "figure"), 2)
    assert (text.part, text.queries) == (("kind", "text"), 9)
    assert text.runs[1].p_value == 2 / 2**9
    assert text.runs[1].values["hit_rate_at_1"] == 0
    assert figure.runs[1].values["hit_rate_at_1"] == 0.5


def test_a_field_that_no_query_has_is_an_error_that_names_those_there_are() -> None:
    run = from_ranks("r", [1, 2], slices_of_queries={"type": {"q0": "x"}, "domain": {"q1": "y"}})
    with pytest.raises(DataError, match=r"have no field 'kind'; the fields that they have: type, domain"):
        compare_by([run], "kind")
    with pytest.raises(DataError, match="the fields that they have: none"):
        compare_by([BEST], "kind")


def test_a_constant_run_is_never_the_best_because_of_its_ties() -> None:
    # case M01
    constant, honest = tied("constant", 10), tied("honest", 2)
    found = compare([constant, honest], "hit_rate_at_10")
    assert [run.values["hit_rate_at_1"] for run in found.runs] == [0, 0]
    assert compare([constant, honest], "mean_rank").best == "honest"
    assert next(run for run in found.runs if run.name == "constant").values["mean_rank"] == 10


def test_where_the_order_of_ties_matters_the_comparison_says_so() -> None:
    # case M01
    found = compare([tied("constant", 10), tied("clear", 1)], "mean_rank")
    assert next(run for run in found.runs if run.name == "constant").tied == (10.0, 1.0)
    note = found.notes[-1]
    assert note.startswith("the order of equal scores moves mean_rank by more than half a rank: ")
    assert "'constant' from 10 to 1" in note
    shares = compare([tied("constant", 10)], "hit_rate_at_1")
    assert shares.notes[-1].startswith("the order of equal scores moves hit_rate_at_1 by more than 0.5 points")
    assert compare(RUNS).notes == ()


def test_every_rule_is_shown_side_by_side_where_asked() -> None:
    # case M01
    found = compare([tied("constant", 10), tied("half", 5)], "mean_rank", How(every_rule=True))
    constant = next(run for run in found.runs if run.name == "constant")
    assert constant.rules == {
        "pessimistic": 10.0,
        "optimistic": 1.0,
        "document_id": 9.0,
        "average": 5.5,
        "textvr": 5.5,
    }
    assert compare([tied("constant", 10)]).runs[0].rules == {}


def test_one_rule_given_makes_other_rules_comparable() -> None:
    runs = [tied("constant", 10), tied("flattered", 10, ties=TieRule.optimistic)]
    with pytest.raises(DataError, match="tie rules"):
        compare(runs)
    found = compare(runs, "mean_rank", How(ties=TieRule.average))
    assert [run.values["mean_rank"] for run in found.runs] == [5.5, 5.5]
    assert found.rule == "average"


def test_queries_without_a_relevant_item_are_left_out_and_counted() -> None:
    # case M05
    rows = {"q1": (3.0, 2.0, 1.0), "q2": (1.0, 2.0, 3.0), "q3": (1.0, 2.0, 3.0)}
    relevant: dict[str, dict[str, float]] = {"q1": {"a": 1.0}, "q2": {}, "q3": {"c": 1.0}}
    runs = [finished(name, rows, relevant) for name in ("one", "two")]
    first, second = compare(runs), compare(runs)
    assert first == second
    assert first.queries == 2
    assert first.runs[0].values["ndcg_at_10"] == 1
    assert "queries without a relevant item, left out of every number: 1" in first.notes


def test_a_query_that_finds_nothing_counts_0_and_an_ideal_list_holds_all_that_is_relevant() -> None:
    # case M04
    nothing = -np.inf
    rows = {"q1": (2.0, nothing, 1.0), "q2": (nothing, nothing, nothing)}
    relevant = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 1.0}}
    found = compare([finished("one", rows, relevant)])
    assert found.queries == 2
    assert found.runs[0].values["ndcg_at_10"] == pytest.approx(0.6131 / 2, abs=1e-4)
    assert found.runs[0].values["mean_rank"] == 2  # 1, and the gallery's size


def test_no_bounded_metric_leaves_0_to_1_with_many_relevant_items() -> None:
    # case M03
    rows = {"q1": (1.0, 1.0, 1.0, 0.0), "q2": (1.0, 1.0, 1.0, 1.0)}
    relevant = {"q1": {"a": 1.0, "b": 1.0, "c": 2.0}, "q2": {"a": 1.0, "d": 1.0}}
    for rule in TieRule:
        for run in compare([finished("one", rows, relevant)], how=How(ties=rule)).runs:
            for name, value in run.values.items():
                assert "_rank" in name or 0 <= value <= 1


def test_ranks_below_every_cut_off_are_the_true_ones() -> None:
    # case M17
    rows = {"q": [float(-place) for place in range(26)]}
    found = compare([finished("one", rows, {"q": {"z": 1.0}})], "median_rank")
    assert found.runs[0].values["median_rank"] == 26
    assert found.runs[0].values["hit_rate_at_10"] == 0
