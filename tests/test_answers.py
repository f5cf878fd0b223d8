"""Answers of several runs side by side: groups, intervals, and the arithmetic of one run against another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from finished_runs import finished, from_ranks
from glyphrank.answers import (
    Answers,
    Paired,
    against,
    answers_of,
    cautions,
    groups_of_askers,
    intervals_of,
    repeats,
    with_medians,
)
from glyphrank.comparable import common
from glyphrank.records import Direction, IntArray
from glyphrank.report.finished import Finished
from glyphrank.resampling import Median, mean_intervals
from glyphrank.significance import holm, sign_flip_test, swap_test
from glyphrank.ties import Numbers, TieRule

T2V = Direction.t2v
FIRST = from_ranks("first", [1, 1, 1, 1, 2, 3, 4, 1, 1, 9])
SECOND = from_ranks("second", [1, 3, 1, 2, 2, 3, 9, 4, 1, 9])
THIRD = from_ranks("third", [2, 1, 1, 1, 2, 3, 4, 1, 1, 5])
RUNS = (FIRST, SECOND, THIRD)
ALONE = np.arange(10)


def _answers(runs: tuple[Finished, ...] = RUNS) -> list[Answers]:
    ids = common(runs, runs[0]).ids
    return [answers_of(run, ids, TieRule.pessimistic) for run in runs]


def against_one(answers: Sequence[Answers], reference: int, metric: str, groups: IntArray) -> Paired:
    (found,) = against(answers, [(metric, reference)], T2V, groups)
    return found


def _spans(found: Paired) -> Numbers:
    return np.array([span or (np.nan, np.nan) for span in found.intervals], dtype=np.float64)


def test_totals_are_those_of_the_report() -> None:
    for run, answers in zip(RUNS, _answers(), strict=True):
        assert answers.total == run.report.metrics


def test_against_counts_who_gained_and_who_lost() -> None:
    found = against_one(_answers(), 0, "reciprocal_rank_at_10", ALONE)
    assert found.better.tolist() == [0, 0, 1]
    assert found.worse.tolist() == [0, 4, 1]
    assert found.equal.tolist() == [10, 6, 8]


def test_against_takes_lower_ranks_as_better() -> None:
    found = against_one(_answers(), 1, "mean_rank", ALONE)
    assert found.better.tolist() == [4, 0, 5]
    assert found.worse.tolist() == [0, 0, 1]


@pytest.mark.parametrize("metric", ["ndcg_at_10", "hit_rate_at_1", "mean_rank"])
def test_against_tests_means_by_flipping_signs(metric: str) -> None:
    answers = _answers()
    column = "best_rank" if metric == "mean_rank" else metric
    differences = np.stack([own.each[T2V][column] - answers[0].each[T2V][column] for own in answers], axis=1)
    found = against_one(answers, 0, metric, ALONE)
    wanted = sign_flip_test(differences[:, 1:], ALONE, 2)
    assert found.p_values[1:].tolist() == wanted.tolist()
    assert found.p_adjusted[1:].tolist() == holm(wanted).tolist()
    assert np.isnan(found.p_values[0])
    assert np.isnan(found.p_adjusted[0])
    np.testing.assert_allclose(_spans(found), mean_intervals(differences, ALONE))


@pytest.mark.parametrize(
    ("metric", "median"), [("median_rank", Median.upper_middle), ("median_rank_mean", Median.mean_of_middles)]
)
def test_against_tests_medians_by_exchanging_answers(metric: str, median: Median) -> None:
    answers = _answers()
    ranks = [own.each[T2V]["best_rank"] for own in answers]
    found = against_one(answers, 2, metric, ALONE)
    assert found.p_values[1] == swap_test(ranks[1], ranks[2], ALONE, median, 2)
    low, high = found.intervals[1] or (np.nan, np.nan)
    assert low <= np.median(ranks[1]) - np.median(ranks[2]) <= high


def test_several_questions_have_the_answers_of_each_alone() -> None:
    questions = [("ndcg_at_10", 0), ("median_rank", 2), ("hit_rate_at_1", 1), ("ndcg_at_10", 2)]
    together = against(_answers(), questions, T2V, ALONE)
    for found, (metric, reference) in zip(together, questions, strict=True):
        alone = against_one(_answers(), reference, metric, ALONE)
        np.testing.assert_array_equal(found.p_values, alone.p_values)
        np.testing.assert_array_equal(found.p_adjusted, alone.p_adjusted)
        np.testing.assert_allclose(_spans(found), _spans(alone))
        assert found.better.tolist() == alone.better.tolist()


def test_equal_runs_do_not_differ() -> None:
    found = against_one(_answers((FIRST, replace(FIRST, name="again"))), 0, "ndcg_at_10", ALONE)
    assert found.p_values[1] == found.p_adjusted[1] == 1
    assert found.intervals[1] == (0, 0)
    assert (found.better[1], found.worse[1]) == (0, 0)


def test_rounding_is_no_difference() -> None:
    answers = _answers((FIRST, FIRST))
    nudged = {T2V: {name: values + 1e-16 for name, values in answers[1].each[T2V].items()}}
    found = against_one([answers[0], replace(answers[1], each=nudged)], 0, "ndcg_at_10", ALONE)
    assert found.equal.tolist() == [10, 10]


def test_one_group_has_no_interval_of_the_difference() -> None:
    found = against_one(_answers(), 0, "ndcg_at_10", np.zeros(10, dtype=np.int64))
    assert found.intervals == [None, None, None]
    assert found.p_values[1] == 1  # one group can only keep or change its sign


def test_a_group_flips_as_one() -> None:
    alone = against_one(_answers(), 0, "hit_rate_at_1", ALONE)
    paired = against_one(_answers(), 0, "hit_rate_at_1", ALONE // 2)
    assert alone.p_values[1] == 0.25  # three queries lost, none gained: 2 / 2^3
    assert paired.p_values[1] == 0.25  # each in another pair
    together = against_one(_answers(), 0, "hit_rate_at_1", np.array([0, 1, 2, 1, 3, 4, 5, 1, 6, 7]))
    assert together.p_values[1] == 1


def test_groups_of_several_runs_are_joined() -> None:
    rows = {"q1": (1.0, 2.0), "q2": (1.0, 2.0), "q3": (2.0, 1.0), "q4": (2.0, 1.0)}
    one = finished("one", rows, {"q1": {"a": 1.0}, "q2": {"a": 1.0}, "q3": {"b": 1.0}, "q4": {"b": 2.0}})
    assert groups_of_askers([one, one], T2V, ("q1", "q2", "q3", "q4")).tolist() == [0, 0, 1, 1]
    assert groups_of_askers([one], T2V, ("q4", "q2")).tolist() == [0, 1]
    other = finished("two", rows, {"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q3": {"b": 1.0}, "q4": {"a": 1.0}})
    assert groups_of_askers([one, other], T2V, ("q1", "q2", "q3", "q4")).tolist() == [0, 0, 0, 0]


def test_a_run_without_a_second_median_has_the_first_in_its_place() -> None:
    numbers = {"median_rank": 3.0, "mean_rank": 4.0, "v2t/median_rank": 7.0}
    wanted = {"median_rank_mean", "ndcg_at_10"}
    assert list(with_medians(numbers, wanted).items()) == [
        ("median_rank", 3.0),
        ("median_rank_mean", 3.0),
        ("mean_rank", 4.0),
        ("v2t/median_rank", 7.0),
    ]
    own = {"median_rank": 3.0, "median_rank_mean": 2.5}
    assert with_medians(own, wanted) == own
    assert with_medians({"median_rank_truncated": 1.0}, {"median_rank_mean_truncated"}).keys() == {
        "median_rank_truncated",
        "median_rank_mean_truncated",
    }


NAMES = tuple(f"q{number}" for number in range(10))


def test_many_groups_that_share_nothing_need_no_caution() -> None:
    assert cautions(RUNS, T2V, NAMES, ALONE) == []


def test_few_groups_are_told_with_what_they_count_as() -> None:
    assert cautions(RUNS, T2V, NAMES, np.array([0, 0, 0, 0, 1, 2, 3, 4, 5, 6])) == [
        "7 groups of 10 queries, which count as 4.5: too few for intervals and tests that can be trusted"
    ]
    assert cautions(RUNS[:1], T2V, NAMES[:1], ALONE[:1])[0].startswith("1 query: too few for intervals")


def test_groups_that_can_tell_nothing_are_told() -> None:
    few, none = cautions(RUNS[:2], T2V, NAMES, ALONE // 2)
    assert few.startswith("5 groups of 10 queries: too few")
    assert none == "with 5 groups and 1 test no adjusted p-value can fall below .05: which run is better cannot be told"
    assert len(cautions(RUNS[:2], T2V, NAMES, ALONE % 6)) == 1  # 2 / 2^6 for one test
    assert "with 6 groups and 2 tests" in cautions(RUNS, T2V, NAMES, ALONE % 6)[1]


def test_judgements_that_chain_are_told_where_each_asker_is_taken_alone() -> None:
    rows = {f"q{number}": (3.0, 2.0, 1.0) for number in range(12)}
    shared = {name: {"ab"[number > 9]: 1.0} for number, name in enumerate(rows)}
    run, free = finished("one", rows, shared), finished("one", rows, shared, protocol={"group": "none"})
    (note,) = cautions([run], T2V, list(rows), np.arange(12))
    assert note.startswith("shared judgements chain 12 queries into 2 groups, which count as 1.4; each is taken alone")
    assert cautions([free], T2V, list(rows), np.arange(12)) == []  # nobody asked for groups
    assert not any("chain" in told for told in cautions([run], T2V, list(rows), np.arange(12) // 10))


def test_intervals_bear_the_names_of_the_totals() -> None:
    rows = {f"q{number}": (3.0, 2.0, 1.0 + number) for number in range(6)}
    relevant = {f"q{number}": {"abc"[number % 3]: 1.0} for number in range(6)}
    both = (T2V, Direction.v2t)
    runs = [finished("one", rows, relevant, directions=both), finished("two", rows, relevant, protocol={})]
    answers = [answers_of(run, common(runs, runs[0], allow=True).ids, TieRule.pessimistic) for run in runs]
    groups = {T2V: np.arange(6), Direction.v2t: np.arange(3)}
    spans = intervals_of(answers, groups)
    assert [set(own) for own in spans] == [set(own.total) for own in answers]
    assert any(name.startswith("v2t/") for name in spans[0])
    assert not any(name.startswith("v2t/") for name in spans[1])
    assert all(low <= answers[0].total[name] <= high for name, (low, high) in spans[0].items())


def test_runs_of_the_same_numbers_are_told() -> None:
    runs = [from_ranks(name, ranks) for name, ranks in (("one", [1, 2]), ("two", [1, 2]), ("three", [2, 1]))]
    shared = common(runs, runs[0])
    answers = [answers_of(run, shared.ids, shared.rule) for run in runs]
    assert repeats(["one", "two"], answers[:2]) == ["with the same numbers, each counted as a test: 'one', 'two'"]
    other = answers_of(from_ranks("other", [5, 2]), shared.ids, shared.rule)
    assert repeats(["one", "other"], [answers[0], other]) == []
