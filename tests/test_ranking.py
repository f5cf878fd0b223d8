"""Ranks come of counting, ties are known, and nothing depends on the order in which items or blocks come."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import glyphrank.ranking
from glyphrank.ranking import RankCounter, id_order, reverse
from glyphrank.records import Direction, IntArray
from ranked import MISS, rank, top_ids

LEVELS = st.sampled_from([MISS, -1.0, 0.0, 0.5, 1.0])


def test_ranks_of_a_query_with_two_relevant_items() -> None:
    ranks = rank({"q": [0.1, 0.9, 0.5, 0.5, 0.5]}, "abcde", {"q": {"c": 1, "a": 2}})
    assert ranks.item.tolist() == [0, 2]
    assert ranks.gain.tolist() == [2, 1]
    assert ranks.higher.tolist() == [4, 1]
    assert ranks.tied.tolist() == [1, 3]
    assert ranks.before.tolist() == [0, 2]  # e and d stand before c: ids descend
    assert ranks.retrieved.all()


def test_ranks_where_a_relevant_item_was_not_retrieved() -> None:
    ranks = rank({"q": [MISS, 0.2, MISS]}, "abc", {"q": {"a": 1, "b": 1}})
    assert ranks.retrieved.tolist() == [False, True]
    assert (ranks.higher[0], ranks.tied[0], ranks.before[0]) == (0, 0, 0)
    assert top_ids(ranks) == ["b"]


def test_pairs_are_ordered_by_query_and_queries_without_relevant_items_are_kept() -> None:
    ranks = rank({"q2": [1, 0], "q1": [1, 0], "q0": [0, 1]}, "ab", {"q0": {"a": 1}, "q2": {"a": 1}})
    assert ranks.query_ids == ("q2", "q1", "q0")
    assert ranks.query.tolist() == [0, 2]
    assert ranks.higher.tolist() == [0, 1]


def test_id_order_descends_by_utf8_bytes() -> None:
    names = ["p_10", "p_9", "P_9", "쪽", "😀", "ｆ"]
    by_place = sorted(zip(id_order(names), names, strict=True))
    assert [name for _, name in by_place] == ["😀", "ｆ", "쪽", "p_9", "p_10", "P_9"]


def test_ties_are_ordered_by_ids_as_the_run_file_holds_them() -> None:
    decomposed = unicodedata.normalize("NFD", "각")
    items = ["a b", "a!b", decomposed, "가"]
    ranks = rank({"q": [1.0] * 4}, items, {"q": dict.fromkeys(items, 1)})
    assert top_ids(ranks) == ["가", decomposed, "a b", "a!b"]  # written a%20b, which stands above a!b; no NFC
    assert ranks.before.tolist() == [2, 3, 1, 0]


def test_scores_that_differ_in_float64_alone_are_no_tie() -> None:
    counter = RankCounter(Direction.t2v, ["q"], "ab", {"q": {"a": 1.0}}, 2)
    counter.add(np.array([0]), np.array([[1.0, np.nextafter(1.0, 2)]]))
    ranks = counter.finish()
    assert (ranks.higher.tolist(), ranks.tied.tolist()) == ([1], [1])
    assert ranks.top[0][1].tolist() == [np.nextafter(1.0, 2), 1.0]


@pytest.mark.parametrize("items", ["abcde", "edcba", "cabed"])
def test_top_of_a_constant_scorer_does_not_depend_on_insertion_order(items: str) -> None:  # case M01
    ranks = rank({"q": [1.0] * 5}, items, {"q": {"a": 1}})
    assert top_ids(ranks) == ["e", "d", "c", "b", "a"]
    assert (ranks.higher[0], ranks.tied[0], ranks.before[0]) == (0, 5, 4)


def test_top_3_is_the_beginning_of_top_5() -> None:  # case I05
    rows = {"q": [0.7, 0.7, 0.9, 0.7, 0.7, 0.7]}
    three, five = (rank(rows, "abcdef", {"q": {"a": 1}}, depth) for depth in (3, 5))
    assert top_ids(five) == ["c", "f", "e", "d", "b"]
    assert top_ids(three) == top_ids(five)[:3]
    assert three.top[0][1].tolist() == pytest.approx([0.9, 0.7, 0.7])


def test_top_is_clamped_to_the_gallery() -> None:  # case M17
    assert top_ids(rank({"q": [0.1, 0.2]}, "ab", {"q": {"a": 1}}, depth=100)) == ["b", "a"]


def test_no_top_lists_at_depth_0() -> None:
    assert rank({"q": [0.1, 0.2]}, "ab", {"q": {"a": 1}}, depth=0).top == []


@given(st.lists(LEVELS, min_size=1, max_size=8), st.integers(1, 9))
def test_top_and_counts_agree_with_a_full_sort(scores: list[float], depth: int) -> None:
    items = [f"i{position}" for position in range(len(scores))]
    everything = sorted(zip(scores, items, strict=True), reverse=True)
    ranks = rank({"q": scores}, items, {"q": dict.fromkeys(items, 1)}, depth)
    assert top_ids(ranks) == [item for score, item in everything if score > MISS][:depth]
    for pair in np.flatnonzero(ranks.retrieved):
        place = everything.index((scores[pair], items[pair]))
        assert ranks.higher[pair] + ranks.before[pair] == place
        assert ranks.tied[pair] == scores.count(scores[pair])


def test_blocks_in_any_order_give_the_same_ranks() -> None:
    rows = np.array([[0, 1, 1], [1, 0, 0], [0.5, 0.5, 1]], dtype=np.float32)
    relevant = {"x": {"a": 1.0}, "y": {"b": 1.0}, "z": {"b": 1.0, "c": 2.0}}
    whole = rank({"x": rows[0].tolist(), "y": rows[1].tolist(), "z": rows[2].tolist()}, "abc", relevant)
    counter = RankCounter(Direction.t2v, "xyz", "abc", relevant, 10)
    counter.add(np.array([2, 0]), rows[[2, 0]])
    counter.add(np.array([1]), np.asfortranarray(rows)[1:2])
    parts = counter.finish()
    assert [parts.higher.tolist(), parts.tied.tolist(), parts.before.tolist()] == [
        whole.higher.tolist(),
        whole.tied.tolist(),
        whole.before.tolist(),
    ]
    assert [top_ids(parts, query) for query in range(3)] == [top_ids(whole, query) for query in range(3)]


def _counted_slowly(rows: NDArray[Any], query: int, item: int, order: IntArray) -> tuple[int, int, int]:
    """Higher, tied and before of one item, by looking at its whole row."""
    row, score = rows[query], rows[query, item]
    if score == MISS:
        return 0, 0, 0
    level = row == score
    return int(np.sum(row > score)), int(np.sum(level)), int(np.sum(level & (order < order[item])))


LAYOUTS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "rows": np.ascontiguousarray,
    "transposed": np.asfortranarray,
    "every other row": lambda rows: np.repeat(rows, 2, axis=0)[::2],
    "every other column": lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
    "reversed": lambda rows: np.ascontiguousarray(rows[:, ::-1])[:, ::-1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(("queries", "items"), [(700, 300), (40, 2000), (3, 1), (1, 700)])
@pytest.mark.parametrize("levels", [1, 5, 10**6])
def test_ranks_are_those_of_counting_row_by_row_however_scores_lie_in_memory(
    layout: str, kind: type, queries: int, items: int, levels: int
) -> None:
    """None, one or up to six relevant items a query; a tenth is not retrieved."""
    generator = np.random.default_rng(queries + levels)
    rows: NDArray[Any] = (generator.integers(0, levels, (queries, items)) / 7).astype(kind)
    rows[generator.random(rows.shape) < 0.1] = MISS
    names, query_ids = [f"i{number}" for number in range(items)], [f"q{number}" for number in range(queries)]
    relevant = {
        name: {names[item]: 1.0 for item in generator.integers(0, items, generator.integers(0, 7))}
        for name in query_ids
    }
    counter = RankCounter(Direction.t2v, query_ids, names, relevant, 0)
    asked = generator.permutation(queries)
    laid = LAYOUTS[layout](rows[asked])
    for some in (slice(queries // 3), slice(queries // 3, queries)):
        counter.add(asked[some], laid[some])
    ranks, order = counter.finish(), id_order(names)
    wanted = [_counted_slowly(rows, *pair, order) for pair in zip(ranks.query, ranks.item, strict=True)]
    assert [*zip(ranks.higher, ranks.tied, ranks.before, strict=True)] == wanted
    assert ranks.retrieved.tolist() == [rows[pair] > MISS for pair in zip(ranks.query, ranks.item, strict=True)]


@pytest.mark.parametrize(("queries", "at_once"), [(20, 4096), (900, 4096), (900, 70)])
def test_transposed_scores_are_ranked_as_their_copy(
    queries: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One relevant item for all, one for each or a few: the ways in which pairs and rows can fit."""
    monkeypatch.setattr(glyphrank.ranking, "_ACROSS", at_once)
    scores = np.random.default_rng(2).integers(0, 9, (600, queries)).astype(np.float32).T
    names, query_ids = [f"i{number}" for number in range(600)], [f"q{number}" for number in range(queries)]
    each = {name: {names[number % 600]: 1.0} for number, name in enumerate(query_ids)}
    for relevant in (each, {"q7": each["q7"]}, {"q3": dict.fromkeys(names, 1.0)}, {}):
        found = []
        for rows in (scores, np.ascontiguousarray(scores)):
            counter = RankCounter(Direction.v2t, query_ids, names, relevant, 0)
            counter.add(np.arange(queries), rows)
            found.append(counter.finish())
        for name in ("query", "item", "higher", "tied", "before", "retrieved"):
            assert np.array_equal(getattr(found[0], name), getattr(found[1], name)), name


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_nan_is_found_wherever_it_stands(layout: str) -> None:  # case I03
    for row, column in ((0, 0), (599, 999), (520, 300)):
        rows = np.zeros((600, 1000), dtype=np.float32)
        rows[row, column] = np.nan
        counter = RankCounter(Direction.t2v, [f"q{number}" for number in range(600)], [*map(str, range(1000))], {}, 0)
        with pytest.raises(ValueError, match=f"'q{row}' has a score that is NaN"):
            counter.add(np.arange(600), LAYOUTS[layout](rows))


def test_ids_are_matched_in_nfc() -> None:  # case P04
    decomposed = unicodedata.normalize("NFD", "한글")
    ranks = rank({"질문": [0.0, 1.0]}, ["가", "한글"], {unicodedata.normalize("NFD", "질문"): {decomposed: 1}})
    assert ranks.item.tolist() == [1]


def test_a_score_that_is_nan_names_the_query() -> None:  # case I03
    with pytest.raises(ValueError, match="'q7' has a score that is NaN"):
        rank({"q7": [0.1, float("nan")]}, "ab", {"q7": {"a": 1}})


def test_a_query_that_was_never_added_is_named() -> None:
    counter = RankCounter(Direction.t2v, ["q1", "q2"], "ab", {}, 0)
    counter.add(np.array([0]), np.zeros((1, 2), dtype=np.float32))
    with pytest.raises(ValueError, match="'q2'"):
        counter.finish()


def test_a_query_added_twice_is_refused() -> None:
    counter = RankCounter(Direction.t2v, ["q1"], "ab", {}, 0)
    counter.add(np.array([0]), np.zeros((1, 2), dtype=np.float32))
    with pytest.raises(ValueError, match="'q1' was ranked before"):
        counter.add(np.array([0]), np.zeros((1, 2), dtype=np.float32))


def test_rows_of_another_width_are_refused() -> None:
    counter = RankCounter(Direction.t2v, ["q1"], "ab", {}, 0)
    with pytest.raises(ValueError, match=r"\(1, 3\).*\(1, 2\)"):
        counter.add(np.array([0]), np.zeros((1, 3), dtype=np.float32))


@pytest.mark.parametrize(
    ("relevant", "message"), [({"q": {"zz": 1.0}}, "'zz'"), ({"p": {"a": 1.0}}, "'p'"), ({"q": {"a": 0.0}}, "gain")]
)
def test_relevance_that_names_something_unknown_is_refused(relevant: dict[str, dict[str, float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rank({"q": [0.1, 0.2]}, "ab", relevant)


def test_reverse_exchanges_the_sides() -> None:
    assert reverse({"q1": {"a": 1.0}, "q2": {"a": 2.0, "b": 1.0}}) == {"a": {"q1": 1.0, "q2": 2.0}, "b": {"q2": 1.0}}


def test_judgements_that_change_between_two_counters_count_in_the_second() -> None:
    relevant = {"q": {"a": 1.0}}
    first = RankCounter(Direction.t2v, ["q"], "ab", relevant, 0)
    relevant["q"] = {"b": 1.0}
    second = RankCounter(Direction.t2v, ["q"], "ab", relevant, 0)
    for counter in (first, second):
        counter.add(np.array([0]), np.array([[2.0, 1.0]]))
    assert [int(counter.finish().higher[0]) for counter in (first, second)] == [0, 1]
