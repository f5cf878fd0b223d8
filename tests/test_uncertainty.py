"""What stands beside the numbers of a report: which intervals there are, and of what."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from glyphrank.intervals import intervals, slice_interval
from glyphrank.measure import metrics_of, slice_fields
from glyphrank.metrics import Protocol, per_query
from glyphrank.ranking import RankCounter, reverse
from glyphrank.records import Direction, Item, Query, Ranks, Source, Task, View
from glyphrank.ties import TieRule
from glyphrank.uncertainty import groupings_of, notes_of_groups, uncertainty

QUERIES, ITEMS = 24, 12


def protocol(primary: str = "ndcg_at_10", group: str = "item") -> Protocol:
    both = (Direction.t2v, Direction.v2t)
    return Protocol((1, 5), both, TieRule.pessimistic, tuple(View), tuple(Source), None, primary, group)


def make_task(shared: bool) -> Task:
    """The last query has nothing relevant; with `shared` two queries want one item each time, else each its own."""
    scenes = ("street", "indoor")
    queries = tuple(Query(f"q{number}", "x", {"scene": scenes[number % 2]}) for number in range(QUERIES))
    count = ITEMS if shared else QUERIES
    items = tuple(Item(f"v{number}", None, "x", {"scene": scenes[number % 3 == 0]}) for number in range(count))
    relevant = {f"q{number}": {f"v{number % count}": 1.0} for number in range(QUERIES - 1)}
    return Task("t", queries, items, relevant, "f")


def rank_task(task: Task) -> dict[Direction, Ranks]:
    scores = np.random.default_rng(1).standard_normal((len(task.queries), len(task.items)))
    asking, gallery = [query.id for query in task.queries], [item.id for item in task.items]
    forward = RankCounter(Direction.t2v, asking, gallery, task.relevant, 0)
    forward.add(np.arange(len(asking)), scores)
    backward = RankCounter(Direction.v2t, gallery, asking, reverse(task.relevant), 0)
    backward.add(np.arange(len(gallery)), np.ascontiguousarray(scores.T))
    return {Direction.t2v: forward.finish(), Direction.v2t: backward.finish()}


@pytest.mark.parametrize("shared", [True, False])
def test_every_metric_has_an_interval_round_its_value_in_both_directions(shared: bool) -> None:
    task = make_task(shared)
    ranks = rank_task(task)
    found = uncertainty(ranks, groupings_of(task, protocol(), ranks), slice_fields(task, ranks), protocol())
    metrics = metrics_of(ranks, protocol())
    assert set(found.intervals) == set(metrics)
    for name, (low, high) in found.intervals.items():
        assert low <= metrics[name] <= high
    assert set(found.tails) == {"mean_rank", "v2t/mean_rank"}
    assert found.counts == ({"groups": 12} if shared else {})


def test_groups_make_the_intervals_that_grouped_queries_deserve() -> None:
    task = make_task(shared=True)
    ranks = rank_task(task)
    groupings = groupings_of(task, protocol(), ranks)
    found = uncertainty(ranks, groupings, slice_fields(task, ranks), protocol())
    values = per_query(ranks[Direction.t2v], (1, 5), TieRule.pessimistic)
    (wanted,) = intervals([values], groupings[Direction.t2v].numbers)
    assert {name: found.intervals[name] for name in wanted} == wanted
    (ungrouped,) = intervals([values], np.arange(QUERIES))
    assert ungrouped["ndcg_at_10"] != wanted["ndcg_at_10"]


@pytest.mark.parametrize("primary", ["ndcg_at_10", "v2t/hit_rate_at_1", "median_rank"])
def test_slices_have_the_interval_of_the_primary_metric_in_both_directions(primary: str) -> None:
    task = make_task(shared=False)
    ranks = rank_task(task)
    groupings = groupings_of(task, protocol(primary), ranks)
    parts = uncertainty(ranks, groupings, slice_fields(task, ranks), protocol(primary)).slice_intervals
    name = primary.removeprefix("v2t/")
    assert {value: set(found) for value, found in parts["scene"].items()} == {
        "street": {name, f"v2t/{name}"},
        "indoor": {name, f"v2t/{name}"},
    }
    values = per_query(ranks[Direction.t2v], (1, 5), TieRule.pessimistic)
    street = {metric: column[::2] for metric, column in values.items()}
    assert parts["scene"]["street"][name] == slice_interval(name, street, np.arange(QUERIES // 2))


def test_a_slice_whose_queries_have_nothing_relevant_has_no_interval() -> None:
    task = make_task(shared=False)
    last = replace(task.queries[-1], slices={"scene": "nowhere"})
    task = replace(task, queries=(*task.queries[:-1], last))
    ranks = {Direction.t2v: rank_task(task)[Direction.t2v]}
    fields = slice_fields(task, ranks)
    parts = uncertainty(ranks, groupings_of(task, protocol(), ranks), fields, protocol()).slice_intervals
    assert set(parts["scene"]) == {"street", "indoor"}


def test_notes_say_who_is_taken_together_and_nothing_where_nobody_is() -> None:
    for shared, counts, wanted in (
        (True, {"groups": 12}, ["intervals and tests take queries in 12 groups (metrics.group=item)"]),
        (False, {}, []),
    ):
        groupings = groupings_of(make_task(shared), protocol(), (Direction.t2v, Direction.v2t))
        assert notes_of_groups(groupings, counts, "item") == wanted


def test_notes_pass_on_what_a_grouping_has_to_say() -> None:
    groupings = groupings_of(make_task(shared=True), protocol(group="scene"), (Direction.v2t,))
    (grouped, few) = notes_of_groups(groupings, {"v2t/groups": 2}, "scene")
    assert grouped == "v2t/intervals and tests take items in 2 groups (metrics.group=scene)"
    assert few.startswith("v2t/2 groups of 12 items, which count as 1.8: too few")
    assert few.endswith("(metrics.group=scene)")
