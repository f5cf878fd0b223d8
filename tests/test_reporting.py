"""Writing a run up: what two runs must share to be compared, and what stands query by query."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from glyphrank.metrics import Protocol, per_query
from glyphrank.ranking import RankCounter, reverse
from glyphrank.records import Direction, Item, Query, Ranks, Source, Task, View
from glyphrank.reporting import Origin, evaluation_of, own_ranks, queries_of
from glyphrank.ties import TieRule

BOTH = (Direction.t2v, Direction.v2t)
PROTOCOL = Protocol((1, 5), BOTH, TieRule.average, (View.text,), tuple(Source), None, "ndcg_at_10", "item")
TASK = Task(
    "t",
    (
        Query("q1", "하나", {"scene": "street", "answer": "x"}),
        Query("q2", "둘", {"scene": "indoor"}),
        Query("q3", "셋"),
    ),
    (Item("가", None, "x", {"scene": "street", "kind": "k"}), Item("b", None, "y"), Item("c", None, None)),
    {"q1": {"가": 1.0}, "q2": {"가": 0.5, "b": 2.0}},
    "f",
)


def rankings(task: Task = TASK) -> dict[str, dict[Direction, Ranks]]:
    found = {}
    for name, scores in (("text", [[3, 2, 1], [1, 2, 3], [1, 1, 1]]), ("fused", [[1, 2, 3], [3, 2, 1], [1, 1, 1]])):
        rows = np.array(scores, dtype=np.float32)
        asking, gallery = [query.id for query in task.queries], [item.id for item in task.items]
        forward = RankCounter(Direction.t2v, asking, gallery, task.relevant, 0)
        forward.add(np.arange(3), rows)
        backward = RankCounter(Direction.v2t, gallery, asking, reverse(task.relevant), 0)
        backward.add(np.arange(3), np.ascontiguousarray(rows.T))
        found[name] = {Direction.t2v: forward.finish(), Direction.v2t: backward.finish()}
    return found


def test_queries_hold_the_runs_own_values_and_each_channels_best_rank() -> None:
    tables = queries_of(TASK, rankings(), PROTOCOL)
    assert list(tables) == list(BOTH)
    for direction, table in tables.items():
        own = per_query(rankings()["fused"][direction], (1, 5), TieRule.average)
        assert list(table.values) == list(own)
        for name, values in own.items():
            np.testing.assert_array_equal(table.values[name], values)
        assert list(table.channels) == ["text"]
    forward, backward = tables[Direction.t2v], tables[Direction.v2t]
    assert forward.query_ids == ("q1", "q2", "q3")
    assert forward.groups.tolist() == [0, 0, 1]  # two want the same item
    assert backward.query_ids == ("가", "b", "c")
    assert forward.slices == {
        "answer": {"q1": "x"},
        "scene": {"q1": "street", "q2": "indoor"},
    }
    assert backward.slices == {"scene": {"가": "street"}}  # its kind is no field of the queries
    np.testing.assert_array_equal(forward.channels["text"], [1, 2, np.nan])


def test_the_runs_own_ranks_are_the_fusions_or_the_only_channels() -> None:
    both = rankings()
    assert own_ranks(both) is both["fused"]
    assert own_ranks({"text": both["text"]}) is both["text"]


def test_evaluation_names_content_whatever_its_order_and_form() -> None:  # case P04
    told = evaluation_of(TASK, PROTOCOL)
    composed, apart = "가", unicodedata.normalize("NFD", "가")
    relevant = {"q2": {"b": 2.0, apart: 0.5}, "q1": {apart: 1.0}}
    items = (TASK.items[2], replace(TASK.items[0], id=apart), TASK.items[1])
    moved = Task("other name", TASK.queries[::-1], items, relevant, "other")
    assert composed != apart
    assert evaluation_of(moved, PROTOCOL) == told
    assert told["protocol"] == {
        "cutoffs": [1, 5],
        "directions": ["t2v", "v2t"],
        "ties": "average",
        "views": ["text"],
        "sources": ["embedded", "published", "scene"],
        "benchmark": None,
        "primary": "ndcg_at_10",
        "group": "item",
    }


@pytest.mark.parametrize(
    ("changed", "parts"),
    [
        ({"queries": (*TASK.queries[:2], Query("q3", "넷"))}, {"queries"}),
        ({"queries": (*TASK.queries, Query("q4", "넷"))}, {"queries"}),
        ({"items": (*TASK.items, Item("d", None, None))}, {"items"}),
        ({"relevant": {**TASK.relevant, "q1": {"가": 2.0}}}, {"relevance"}),
        ({"relevant": {**TASK.relevant, "q3": {"c": 1.0}}}, {"relevance"}),
        ({"items": (*TASK.items[:2], Item("c", None, "a text"))}, set()),
    ],
)
def test_evaluation_tells_other_queries_items_and_judgements_apart(changed: Any, parts: set[str]) -> None:
    before, after = evaluation_of(TASK, PROTOCOL), evaluation_of(replace(TASK, **changed), PROTOCOL)
    assert {name for name in before if before[name] != after[name]} == parts


def test_the_identity_follows_the_lineage_alone() -> None:
    first = Origin({"dataset": "a", "text": "b"}, {"paths": "here"}, {"encoder@text": "minilm"})
    assert first.identity == Origin({"text": "b", "dataset": "a"}, {}, {}).identity
    assert first.identity != Origin({"dataset": "a"}, {}, {}).identity
