"""Lists made elsewhere: their ranks are those of full rows that lack whatever is not listed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import glyphrank.ranked_lists
from glyphrank.ranked_lists import Lists, Pairs, rank_lists
from glyphrank.ranking import RankCounter, id_order
from glyphrank.records import Direction, IntArray, Ranks
from glyphrank.trec import escaped
from ranked import MISS, top_ids

Relevant = dict[str, dict[str, float]]
ITEMS = [f"쪽_{number}" for number in range(12)]


def _lists(rows: NDArray[np.float64], generator: np.random.Generator) -> Lists:
    """What of each row is above -inf, in any order."""
    order = id_order([escaped(name) for name in ITEMS])
    found = [generator.permutation(np.flatnonzero(row > MISS)) for row in rows]
    items: IntArray = np.concatenate([*found, np.empty(0, dtype=np.int64)]).astype(np.int64)
    scores = np.concatenate([*(row[some] for row, some in zip(rows, found, strict=True)), np.empty(0)])
    return Lists(np.cumsum([0, *map(len, found)]), items, scores, order[items])


def _by_rows(rows: NDArray[np.float64], relevant: Relevant) -> Ranks:
    counter = RankCounter(Direction.t2v, [f"q{query}" for query in range(len(rows))], ITEMS, relevant, len(ITEMS))
    counter.add(np.arange(len(rows)), rows)
    return counter.finish()


def _assert_same(ours: Ranks, wanted: Ranks) -> None:
    for name in ("query", "item", "gain", "higher", "tied", "before", "retrieved"):
        assert getattr(ours, name).tolist() == getattr(wanted, name).tolist(), name
    assert [top_ids(ours, query) for query in range(len(ours.query_ids))] == [
        top_ids(wanted, query) for query in range(len(wanted.query_ids))
    ]
    assert [scores.tolist() for _, scores in ours.top] == [scores.tolist() for _, scores in wanted.top]


def test_ranks_of_two_lists_by_hand() -> None:
    lists = Lists(np.array([0, 3, 4]), np.array([2, 0, 1, 1]), np.array([0.5, 0.9, 0.5, 1.0]), np.array([0, 2, 1, 1]))
    pairs = Pairs(np.array([0, 0, 1, 1]), np.array([1, 0, 0, 1]), np.ones(4))
    ranks = rank_lists(["q", "p"], ["a", "b", "c"], lists, pairs)
    assert ranks.higher.tolist() == [1, 0, 0, 0]
    assert ranks.tied.tolist() == [2, 1, 0, 1]
    assert ranks.before.tolist() == [1, 0, 0, 0]  # c stands before b: ids descend
    assert ranks.retrieved.tolist() == [True, True, False, True]
    assert (top_ids(ranks, 0), top_ids(ranks, 1)) == (["a", "c", "b"], ["b"])
    assert not ranks.truncated


@pytest.mark.parametrize("at_once", [1, 7, 2**15])
@given(st.integers(0, 10_000), st.integers(0, 9), st.sampled_from([1, 3, 100]))
def test_lists_are_ranked_as_rows_that_lack_what_is_not_listed(
    at_once: int, seed: int, count: int, levels: int
) -> None:
    generator = np.random.default_rng(seed)
    rows = generator.integers(0, levels, (count, len(ITEMS))) / 7
    rows[generator.random(rows.shape) < 0.4] = MISS
    relevant: Relevant = {
        f"q{query}": {ITEMS[item]: float(generator.integers(1, 4)) for item in generator.choice(12, 3, replace=False)}
        for query in range(count)
        if query % 3
    }
    wanted = _by_rows(rows, relevant)
    pairs = Pairs(wanted.query, wanted.item, wanted.gain)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(glyphrank.ranked_lists, "_ENTRIES", at_once)
        ours = rank_lists(wanted.query_ids, ITEMS, _lists(rows, generator), pairs)
    _assert_same(ours, wanted)


def test_lists_that_come_sorted_are_not_copied() -> None:
    scores = np.array([3.0, 2.0, 2.0, 1.0])
    lists = Lists(np.array([0, 4]), np.array([3, 1, 2, 0]), scores, np.array([0, 1, 2, 3]))
    ranks = rank_lists(["q"], ITEMS, lists, Pairs(np.array([0]), np.array([2]), np.ones(1)))
    assert np.shares_memory(ranks.top[0][1], scores)
    assert (ranks.higher[0], ranks.tied[0], ranks.before[0]) == (1, 2, 1)


def test_scores_that_differ_in_the_last_bit_of_a_double_are_no_tie() -> None:
    scores = np.array([1.0, np.nextafter(1.0, 2)])
    lists = Lists(np.array([0, 2]), np.array([0, 1]), scores, np.array([0, 1]))
    ranks = rank_lists(["q"], ["a", "b"], lists, Pairs(np.array([0]), np.array([0]), np.ones(1)))
    assert (ranks.higher[0], ranks.tied[0]) == (1, 1)


@pytest.mark.parametrize("score", [float("nan"), MISS])
def test_scores_that_are_none_are_refused(score: float) -> None:
    with pytest.raises(ValueError, match="NaN or -inf"):
        Lists(np.array([0, 1]), np.array([0]), np.array([score]), np.array([0]))


def test_lists_of_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="lists of 2 entries have 1 items, 1 scores and 1 places"):
        Lists(np.array([0, 2]), np.array([0]), np.array([1.0]), np.array([0]))
