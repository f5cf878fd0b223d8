"""What a comparison says beside its numbers: few groups, marks, other code, values that runs do not share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from finished_runs import finished, from_ranks
from glyphrank.compare import How, compare, compare_by
from glyphrank.errors import DataError
from glyphrank.records import Direction

BOTH = (Direction.t2v, Direction.v2t)
BEST = from_ranks("best", [1] * 12)
CLOSE = from_ranks("close", [1] * 11 + [2])
POOR = from_ranks("poor", [9] * 10 + [1] * 2)


def test_runs_of_one_identity_with_other_numbers_are_compared_and_said_to_differ() -> None:
    other = from_ranks("other device", [1] * 10 + [2, 3], identity=BEST.report.identity)
    found = compare([BEST, other], how=How(baseline=other))
    assert [run.name for run in found.runs] == ["best", "other device"]
    assert found.baseline == "other device"
    assert found.notes[0].startswith("of one identity but with other numbers")
    with pytest.raises(DataError, match="is several of the runs"):
        compare([BEST, other], how=How(baseline=BEST.report.identity))


@pytest.mark.parametrize("metric", [None, "median_rank_mean"])
def test_a_second_median_that_one_run_has_stands_in_every_row(metric: str | None) -> None:
    apart = from_ranks("apart", [1] * 6 + [3] * 6)
    found = compare([BEST, apart], metric)
    by_name = {run.name: run for run in found.runs}
    assert by_name["apart"].values["median_rank_mean"] == 2
    assert by_name["best"].values["median_rank_mean"] == by_name["best"].values["median_rank"] == 1
    assert by_name["best"].intervals["median_rank_mean"] == by_name["best"].intervals["median_rank"]
    alone = compare([BEST, CLOSE], metric).runs
    assert all(("median_rank_mean" in run.values) is (metric is not None) for run in alone)


def test_marks_and_other_sources_of_runs_stand_in_the_notes() -> None:
    lineage = {**CLOSE.report.lineage, "sources": "7d" * 16}
    random = replace(CLOSE, report=replace(CLOSE.report, tags={"random_weights": "visual"}, lineage=lineage))
    first, second = compare([BEST, random]).notes
    assert first == "marked random_weights visual: 'close'"
    assert "sources (5c5c5c5c in 'best'; 7d7d7d7d in 'close')" in second


def test_few_groups_are_told_in_the_notes_of_each_part() -> None:
    kinds = {"kind": {f"q{query}": "text" if query else "figure" for query in range(12)}}
    runs = [from_ranks(run.name, ranks, slices_of_queries=kinds) for run, ranks in ((BEST, [1] * 12), (POOR, [9] * 12))]
    figure, text = compare_by(runs, "kind")
    assert figure.notes[0] == "1 query: too few for intervals and tests that can be trusted"
    assert figure.notes[1].startswith("with 1 group and 1 test no adjusted p-value can fall below .05")
    assert not figure.tellable
    assert text.notes == ()
    assert text.tellable


def test_queries_without_a_value_are_counted_and_unjudged_ones_in_their_part() -> None:
    rows = {f"q{number}": (3.0, 2.0, 1.0) for number in range(5)}
    relevant: dict[str, dict[str, float]] = {**{f"q{number}": {"a": 1.0} for number in range(4)}, "q4": {}}
    kinds = {"kind": {"q0": "x", "q1": "y", "q4": "y"}}
    x, y = compare_by([finished("one", rows, relevant, slices_of_queries=kinds)], "kind")
    for part in (x, y):
        assert part.notes[0] == "without a value of 'kind', so in no part: 2 queries"
    assert not any("without a relevant item" in note for note in x.notes)
    assert "queries without a relevant item, left out of every number: 1" in y.notes
    lost = {"kind": {"q4": "y"}}
    with pytest.raises(DataError, match="nobody who asks and has something relevant has a value of 'kind'"):
        compare_by([finished("one", rows, relevant, slices_of_queries=lost)], "kind")


def test_parts_by_values_on_which_runs_disagree_are_refused_unless_allowed() -> None:
    one, two = (from_ranks(name, [1] * 12, slices_of_queries={"kind": {"q1": name}}) for name in ("one", "two"))
    with pytest.raises(DataError, match="the values of 'kind' are not those of 'one' in 'two'"):
        compare_by([one, two], "kind")
    (part,) = compare_by([one, two], "kind", how=How(allow=True, baseline="two"))
    assert part.part == ("kind", "two")
    assert part.notes[0].endswith("those of 'two' count")


def test_unjudged_askers_are_those_that_all_runs_have() -> None:
    rows = {f"q{number}": (3.0, 2.0, 1.0) for number in range(4)}
    more = {**rows, "q4": (1.0, 2.0, 3.0), "q5": (1.0, 2.0, 3.0)}
    relevant = {"q0": {"a": 1.0}, "q1": {"b": 1.0}}
    both = [finished("more", more, relevant, directions=BOTH), finished("less", rows, relevant, directions=BOTH)]
    found = compare(both, how=How(allow=True))
    assert "queries without a relevant item, left out of every number: 2" in found.notes
    reverse = compare(both, "v2t/ndcg_at_10", How(allow=True))
    assert "items without a relevant query, left out of every number: 1" in reverse.notes


def test_primary_metrics_that_differ_are_told_where_none_is_named() -> None:
    other = replace(POOR, report=replace(POOR.report, primary="mean_rank"))
    (note,) = compare([BEST, other]).notes
    assert note.startswith(
        "compared by ndcg_at_10; the runs' primary metrics differ: ndcg_at_10 in 'best'; mean_rank in"
    )
    assert compare([BEST, other], "mean_rank").notes == ()


def test_ranks_of_truncated_lists_keep_their_name_and_are_not_compared_with_full_ones() -> None:
    # case M17
    cut = from_ranks("cut", [1] * 11 + [2])
    ranks = {Direction.t2v: replace(cut.ranks[Direction.t2v], truncated=True)}
    told = {name + ("_truncated" if name.endswith("rank") else ""): value for name, value in cut.report.metrics.items()}
    cut = replace(cut, ranks=ranks, report=replace(cut.report, metrics=told))
    found = compare([BEST, POOR, cut])
    shown = next(run for run in found.runs if run.name == "cut")
    assert "median_rank_truncated" in shown.values
    assert "median_rank_truncated" in shown.intervals
    assert "median_rank" not in shown.values
    without = compare([BEST, POOR, cut], "median_rank")
    assert "left out, for they have no median_rank: 'cut'" in without.notes
    assert compare([cut], "median_rank_truncated").runs[0].values["median_rank_truncated"] == 1
