"""The best that can be reached where queries or items are alike, against trying all rankings."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glyphrank.ceilings import Side, ceiling, ideal
from glyphrank.metrics import per_query
from glyphrank.ranking import RankCounter, reverse
from glyphrank.records import Direction
from glyphrank.ties import TieRule
from textvr_captions import read_captions

STRICT = [TieRule.pessimistic, TieRule.optimistic, TieRule.document_id, TieRule.average, TieRule.textvr]


def _side(labels: Mapping[str, str | None]) -> Side:
    return Side(tuple(labels), tuple(labels.values()))


def test_equal_queries_share_one_ranking() -> None:
    queries = _side({"q1": "sign", "q2": "sign", "q3": "shop"})
    items = _side({"a": "1", "b": "2", "c": "3"})
    relevant = {"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q3": {"c": 1.0}}
    for rule in STRICT:
        metrics = ceiling(queries, items, relevant, Direction.t2v, rule, (1, 5))
        assert metrics["hit_rate_at_1"] == pytest.approx(2 / 3)
        assert metrics["mean_rank"] == pytest.approx(4 / 3)


def test_equal_items_tie() -> None:
    queries = _side({"q": "1"})
    items = _side({"a": "blank", "b": "blank", "c": "blank", "d": "full"})
    best = {rule: ceiling(queries, items, {"q": {"b": 1.0}}, Direction.t2v, rule, (1,))["mean_rank"] for rule in STRICT}
    assert best == {"pessimistic": 3, "optimistic": 1, "document_id": 2, "average": 2, "textvr": 2}


def test_what_serves_most_queries_comes_first_and_the_smaller_among_equals() -> None:
    queries = _side({f"q{number}": "same" for number in range(4)})
    items = _side({"a": "pair", "b": "pair", "c": "alone", "d": "often"})
    relevant = {"q0": {"a": 1.0}, "q1": {"c": 1.0}, "q2": {"d": 1.0}, "q3": {"d": 1.0}}
    found = ideal(queries, items, relevant, Direction.t2v)
    assert found.ranks.higher.tolist() == [2, 1, 0, 0]
    assert not found.is_exact


def test_graded_relevance_without_repeats_can_be_ranked_perfectly() -> None:
    queries, items = _side({"q": "q"}), _side({"a": "1", "b": "2", "c": "3"})
    relevant = {"q": {"a": 1.0, "c": 3.0}}
    metrics = ceiling(queries, items, relevant, Direction.t2v, TieRule.pessimistic, (1, 2))
    assert metrics["ndcg_at_10"] == metrics["recall_at_2"] == metrics["mean_rank"] == 1
    assert ideal(queries, items, relevant, Direction.t2v).is_exact


def test_what_nobody_can_see_is_never_found() -> None:
    queries = _side({"q1": "1", "q2": "2"})
    items = _side({"a": None, "b": "2", "c": None})
    relevant = {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
    forward = ceiling(queries, items, relevant, Direction.t2v, TieRule.optimistic, (1,))
    assert (forward["hit_rate_at_1"], forward["mean_rank"]) == (0.5, (3 + 1) / 2)
    backward = ceiling(queries, items, relevant, Direction.v2t, TieRule.optimistic, (1,))
    assert (backward["hit_rate_at_1"], backward["mean_rank"]) == (0.5, (2 + 1) / 2)


def test_the_best_caption_of_a_video_counts() -> None:  # case M10
    queries = _side({"1": "red", "2": "red", "3": "a red sign", "4": "blue", "5": "green"})
    items = _side({"u": "u", "v": "v", "w": "w"})
    relevant = {"1": {"u": 1.0}, "2": {"v": 1.0}, "3": {"v": 1.0}, "4": {"w": 1.0}, "5": {"w": 1.0}}
    metrics = ceiling(queries, items, relevant, Direction.v2t, TieRule.pessimistic, (1, 2))
    assert metrics["hit_rate_at_1"] == pytest.approx(2 / 3)  # u has only the caption that v has too
    assert metrics["hit_rate_at_2"] == 1
    assert metrics["recall_at_1"] == pytest.approx((0 + 1 / 2 + 1 / 2) / 3)


def test_what_nobody_can_see_counts_in_a_querys_total() -> None:
    queries = _side({"q0": "c", "q1": "a", "q2": "c"})
    items = _side({"d0": "y", "d1": "w", "d2": None})
    relevant = {"q0": {"d1": 3.0}, "q1": {"d2": 2.0}, "q2": {"d0": 1.0, "d2": 2.0}}
    metrics = ceiling(queries, items, relevant, Direction.t2v, TieRule.pessimistic, (1,))
    assert metrics["recall_at_1"] == pytest.approx(1 / 3)
    assert not ideal(queries, items, relevant, Direction.t2v).is_exact


def test_a_query_that_cannot_be_served_competes_with_none() -> None:
    queries, items = _side({"q0": "c", "q1": "c"}), _side({"a": "1", "b": "2", "c": None})
    relevant = {"q0": {"a": 1.0, "b": 2.0, "c": 4.0}, "q1": {"c": 2.0}}
    found = ideal(queries, items, relevant, Direction.t2v)
    assert found.is_exact
    assert found.ranks.higher.tolist() == [1, 0, 0, 0]


def test_labels_must_be_as_many_as_ids() -> None:
    with pytest.raises(ValueError, match="1 labels for 2 ids"):
        Side(("a", "b"), ("1",))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("direction", "rule", "first", "five", "mean"),
    [
        *((Direction.t2v, rule, 0.8999, 0.9989, 1.128) for rule in STRICT),
        (Direction.v2t, TieRule.optimistic, 1, 1, 1),
        (Direction.v2t, TieRule.textvr, 0.8181, 1, 1.128),
        (Direction.v2t, TieRule.pessimistic, 0.8181, 0.9952, 1.257),
        (Direction.v2t, TieRule.average, 0.8999, 0.9989, 1.128),  # the expected hits over all orders
    ],
)
def test_the_repeated_captions_of_textvr_bound_every_ranker(
    direction: Direction, rule: TieRule, first: float, five: float, mean: float, shared_data: Path
) -> None:
    task = read_captions(shared_data / "textvr")
    queries = Side(tuple(q.id for q in task.queries), tuple(q.text for q in task.queries))
    items = Side(tuple(item.id for item in task.items), tuple(item.id for item in task.items))
    metrics = ceiling(queries, items, task.relevant, direction, rule, (1, 5))
    assert metrics["hit_rate_at_1"] == pytest.approx(first, abs=5e-5)
    assert metrics["hit_rate_at_5"] == pytest.approx(five, abs=5e-5)
    assert metrics["mean_rank"] == pytest.approx(mean, abs=5e-4)
    assert ideal(queries, items, task.relevant, direction).is_exact


@given(
    st.lists(st.sampled_from(["x", "y", None]), min_size=1, max_size=4),
    st.lists(st.sampled_from(["1", "2", "3", None]), min_size=2, max_size=5),
    st.data(),
)
def test_no_ranking_without_other_ties_is_better_where_the_ceiling_is_exact(
    texts: list[str | None], looks: list[str | None], data: st.DataObject
) -> None:
    queries = Side(tuple(f"q{n}" for n in range(len(texts))), tuple(texts))
    items = Side(tuple(f"i{n}" for n in range(len(looks))), tuple(looks))
    gains = st.dictionaries(st.sampled_from(items.ids), st.sampled_from([1.0, 2.0]), min_size=1, max_size=3)
    relevant = {name: data.draw(gains) for name in queries.ids}
    direction = data.draw(st.sampled_from(list(Direction)))
    rule = data.draw(st.sampled_from(STRICT))
    found = ideal(queries, items, relevant, direction)
    asking, gallery = (queries, items) if direction is Direction.t2v else (items, queries)
    turned = relevant if direction is Direction.t2v else reverse(relevant)
    reached = per_query(found.ranks, (2,), rule)
    for members in _alike(asking):
        if not any(asking.ids[position] in turned for position in members):
            continue
        tried = _every_ranking(asking, gallery, turned, members, rule)
        for name, values in reached.items():
            best = max(tried[name]) if name != "best_rank" else min(tried[name])
            mean = np.nansum(values[members])
            if found.is_exact:
                assert mean == pytest.approx(best)
            elif name == "best_rank":
                assert mean >= best - 1e-9
            else:
                assert mean <= best + 1e-9


def _alike(side: Side) -> list[list[int]]:
    return [
        [position for position, label in enumerate(side.labels) if label == wanted]
        for wanted in dict.fromkeys(side.labels)
        if wanted is not None
    ]


def _every_ranking(
    asking: Side,
    gallery: Side,
    relevant: Mapping[str, Mapping[str, float]],
    members: Sequence[int],
    rule: TieRule,
) -> dict[str, list[float]]:
    """Sums over some equal queries of every metric, for each strict order of the groups of equal items."""
    names = [asking.ids[position] for position in members]
    gains = {name: relevant[name] for name in names if name in relevant}
    found: dict[str, list[float]] = {}
    for order in itertools.permutations(dict.fromkeys(label for label in gallery.labels if label is not None)):
        row = [-np.inf if label is None else -float(order.index(label)) for label in gallery.labels]
        counter = RankCounter(Direction.t2v, names, gallery.ids, gains, 0)
        counter.add(np.arange(len(names)), np.array([row] * len(names)))
        for name, values in per_query(counter.finish(), (2,), rule).items():
            found.setdefault(name, []).append(float(np.nansum(values)))
    return found
