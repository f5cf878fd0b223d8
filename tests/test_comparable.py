"""Which runs may be compared, what the refusal says, and what of them is compared where it is allowed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from finished_runs import finished, from_ranks
from glyphrank.comparable import common, only, parts_of, result_of
from glyphrank.errors import DataError
from glyphrank.metrics import evaluate
from glyphrank.records import Direction
from glyphrank.report.finished import Finished
from glyphrank.ties import TieRule

ROWS = {"q1": (3.0, 2.0, 1.0), "q2": (1.0, 2.0, 3.0)}
RELEVANT = {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
BOTH = (Direction.t2v, Direction.v2t)


def pair(**changes: Any) -> tuple[Finished, Finished]:
    return finished("one", ROWS, RELEVANT), finished("two", ROWS, RELEVANT, **changes)


def evaluated_otherwise(run: Finished, **changes: object) -> Finished:
    return replace(run, report=replace(run.report, evaluation={**run.report.evaluation, **changes}))


def test_runs_that_were_evaluated_alike_are_compared_on_all_queries_without_a_word() -> None:
    runs = pair()
    found = common(runs, runs[0])
    assert found.ids == {Direction.t2v: ("q1", "q2")}
    assert (found.rule, found.notes) == (TieRule.pessimistic, ())


def test_queries_without_a_relevant_item_are_not_compared() -> None:
    # case M05
    relevant = {"q1": {"a": 1.0}, "q2": {}}
    runs = [finished(name, ROWS, relevant) for name in ("one", "two")]
    assert common(runs, runs[0]).ids[Direction.t2v] == ("q1",)


def test_other_query_sets_are_refused_with_their_sizes_and_runs() -> None:
    more = finished("three", {**ROWS, "q3": (1.0, 2.0, 3.0)}, {**RELEVANT, "q3": {"c": 1.0}})
    runs = [*pair(), more]
    with pytest.raises(DataError) as refusal:
        common(runs, runs[0])
    message = str(refusal.value)
    assert "query sets: 2 queries (digest " in message
    assert "in 'one', 'two'; 3 queries (digest " in message
    assert "relevance" not in message  # it differs only because the queries do
    assert "--allow" in message


def test_other_galleries_of_equal_size_are_refused() -> None:
    one, two = pair()
    with pytest.raises(DataError, match=r"galleries: 3 items \(digest \w{8}\) in 'one'; 3 items \(digest other\) in"):
        common([one, evaluated_otherwise(two, items="other")], one)


def test_other_relevance_of_the_same_queries_is_refused() -> None:
    one, two = pair()[0], finished("two", ROWS, {"q1": {"a": 1.0}, "q2": {"c": 1.0}})
    with pytest.raises(DataError, match=r"relevance: 2 pairs of queries and relevant items \(digest \w{8}\) in 'one'"):
        common([one, two], one)


@pytest.mark.parametrize("change", [{"cutoffs": [1, 50]}, {"views": ["text"]}, {"group": "none"}])
def test_every_field_of_the_protocol_counts(change: dict[str, object]) -> None:
    runs = pair(protocol=change)
    (name,) = change
    with pytest.raises(DataError, match=f"{name} of the protocol: .* in 'one'; .* in 'two'"):
        common(runs, runs[0])


def test_other_tie_rules_are_refused_unless_one_is_given_for_all() -> None:
    # case M01
    runs = pair(ties=TieRule.optimistic)
    with pytest.raises(DataError, match="tie rules: pessimistic in 'one'; optimistic in 'two'\nadd --ties RULE"):
        common(runs, runs[0])
    assert common(runs, runs[0], TieRule.average).rule is TieRule.average
    assert common(runs, runs[1], allow=True).rule is TieRule.optimistic


def test_allowed_runs_are_compared_on_what_they_share_and_the_first_note_says_so() -> None:
    more = finished("more", {"q3": (1.0, 2.0, 3.0), **ROWS}, {**RELEVANT, "q3": {"c": 1.0}})
    runs = [more, pair()[0]]
    found = common(runs, more, allow=True)
    assert found.ids == {Direction.t2v: ("q1", "q2")}
    assert found.notes[0].startswith(
        "these runs were not evaluated alike; compared on the queries that all of them have"
    )
    assert "(2 queries)" in found.notes[0]
    assert "3 queries" in found.notes[0]
    assert "2 queries" in found.notes[0]


def test_a_single_query_is_no_queries_and_items_that_ask_are_items() -> None:
    one = finished("one", {"q1": ROWS["q1"]}, {"q1": {"a": 1.0}}, directions=BOTH)
    two = finished("two", ROWS, RELEVANT, directions=BOTH)
    with pytest.raises(DataError, match=r"query sets: 1 query \(digest \w{8}\) in 'one'; 2 queries"):
        common([one, two], one)
    assert "(1 query, 1 item)" in common([one, two], one, allow=True).notes[0]


def test_runs_of_which_no_query_is_judged_in_all_say_so_of_their_relevance() -> None:
    one, two = (finished(name, ROWS, {query: {"a": 1.0}}) for name, query in (("one", "q1"), ("two", "q2")))
    with pytest.raises(DataError, match=r"relevance: no judged query in common \(digest"):
        common([one, two], one)


def test_the_primary_metric_alone_makes_no_other_evaluation() -> None:
    runs = pair(protocol={"primary": "mean_rank"})
    assert common(runs, runs[0]).notes == ()


def test_the_advice_on_tie_rules_says_what_all_means() -> None:
    # case M01
    runs = pair(ties=TieRule.optimistic)
    with pytest.raises(DataError, match=r"--ties RULE .* \(all shows every rule but chooses none\)"):
        common(runs, runs[0])


def test_runs_without_a_common_query_cannot_be_compared_at_all() -> None:
    other = finished("other", {"x": (1.0, 2.0, 3.0)}, {"x": {"a": 1.0}})
    with pytest.raises(DataError, match="no query with a relevant item in common"):
        common([pair()[0], other], other, allow=True)


def test_ids_are_compared_in_nfc() -> None:
    composed = finished("one", {"한": (2.0, 1.0)}, {"한": {"a": 1.0}})
    decomposed = finished("two", {"한": (2.0, 1.0)}, {"한": {"a": 1.0}})
    found = common([composed, decomposed], composed, allow=True)
    assert found.ids[Direction.t2v] == ("한",)
    assert only(decomposed.ranks[Direction.t2v], ("한",)).query.tolist() == [0]


def test_another_content_of_the_dataset_is_allowed_with_a_note() -> None:
    one, two = pair()
    two = replace(two, report=replace(two.report, lineage={**two.report.lineage, "dataset": "0123456789"}))
    (note,) = common([one, two], one).notes
    assert note.startswith("queries, item ids and relevance are equal, but not all that the dataset holds")
    assert "dataset 01234567 in 'two'" in note


def test_directions_that_only_some_runs_have_are_compared_between_those() -> None:
    one = finished("one", ROWS, RELEVANT, directions=BOTH)
    two = finished("two", ROWS, RELEVANT, protocol={"directions": ["t2v", "v2t"]})
    found = common([two, one], two)
    assert found.ids[Direction.v2t] == ("a", "b")


def test_a_report_that_says_nothing_of_its_evaluation_is_an_error() -> None:
    one, two = pair()
    with pytest.raises(DataError, match="'two' does not say how it was evaluated"):
        common([one, evaluated_otherwise(two, protocol=None)], one)


def sliced(name: str, values: dict[str, str]) -> Finished:
    return finished(name, ROWS, RELEVANT, slices_of_queries={"type": values} if values else {})


ASKING = (Direction.t2v, ("q1", "q2"))


def test_the_values_of_a_field_are_those_that_all_runs_have() -> None:
    runs = [sliced(name, {"q1": "표"}) for name in ("one", "two")]
    assert parts_of(runs, runs[0], "type", ASKING, False) == ({"q1": "표"}, [])


@pytest.mark.parametrize("other", [{"q1": "text"}, {"q1": "표", "q2": "표"}, {}])
def test_other_values_of_a_field_are_refused_and_allowed_with_a_word_on_whose_count(other: dict[str, str]) -> None:
    one, two = sliced("one", {"q1": "표"}), sliced("two", other)
    with pytest.raises(DataError, match=r"'type' are not those of 'one' in 'two' \(for up to 1 of 2 who ask"):
        parts_of([one, two], one, "type", ASKING, False)
    values, (note,) = parts_of([two, one], one, "type", ASKING, True)
    assert values == {"q1": "표"}
    assert note.endswith("those of 'one' count")
    values, (note,) = parts_of([two, one], two, "type", ASKING, True)
    assert values == (other or {"q1": "표"})
    assert note.endswith("those of 'two' count" if other else "those of 'one' count")


def test_a_result_is_identity_and_numbers() -> None:
    one, two = pair()
    assert result_of(one) == result_of(replace(one, name="again"))
    assert result_of(one) != result_of(two)
    other = replace(one.report, metrics={**one.report.metrics, "mean_rank": 9.0})
    assert result_of(one) != result_of(replace(one, report=other))


def test_only_gives_the_ranks_of_some_queries_in_another_order() -> None:
    ranks = from_ranks("r", [1, 2, 9, 4]).ranks[Direction.t2v]
    some = only(ranks, ("q3", "q1"))
    assert some.query_ids == ("q3", "q1")
    assert some.query.tolist() == [0, 1]
    assert some.higher.tolist() == [3, 1]
    assert len(some.top) == 2
    assert evaluate(some, (1,), TieRule.pessimistic)["mean_rank"] == 3.0
    assert evaluate(only(ranks, ranks.query_ids), (1,), TieRule.pessimistic) == evaluate(
        ranks, (1,), TieRule.pessimistic
    )


def test_only_keeps_all_relevant_items_of_a_query() -> None:
    rows = {"q1": (3.0, 2.0, 1.0), "q2": (1.0, 2.0, 3.0), "q3": (1.0, 3.0, 2.0)}
    ranks = finished("g", rows, {"q1": {"a": 1.0, "c": 2.0}, "q3": {"b": 1.0}}).ranks[Direction.t2v]
    some = only(ranks, ("q3", "q1"))
    assert some.gain.tolist() == [1.0, 1.0, 2.0]
    assert np.all(np.diff(some.query) >= 0)
