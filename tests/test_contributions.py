"""What channels did for each other, counted by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from glyphrank.contributions import contributions
from glyphrank.metrics import Protocol, evaluate
from glyphrank.records import Direction, Ranks, Source, View
from glyphrank.ties import TieRule
from ranked import MISS, rank

ITEMS = "abcd"
RELEVANT = {"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q3": {"c": 1.0}}


def protocol(ties: TieRule = TieRule.pessimistic) -> Protocol:
    return Protocol((1, 2), (Direction.t2v,), ties, tuple(View), tuple(Source), None, "hit_rate_at_1", "item")


def ranks(*rows: Sequence[float]) -> dict[Direction, Ranks]:
    """Of q1, q2, q3 and q4, which has nothing relevant."""
    return {Direction.t2v: rank(dict(zip(("q1", "q2", "q3", "q4"), rows, strict=True)), ITEMS, RELEVANT)}


ANY = [4.0, 3, 2, 1]
VISUAL = ranks([4.0, 3, 2, 1], [4.0, 3, 2, 1], [4.0, 3, 2, 1], ANY)  # ranks 1, 2, 3
TEXT = ranks([1.0, 3, 2, 4], [1.0, 4, 2, 3], [MISS, 1, MISS, MISS], ANY)  # ranks 4, 1, 4
FUSED = ranks([3.0, 4, 2, 1], [1.0, 4, 2, 3], [4.0, 1, 3, 2], ANY)  # ranks 2, 1, 2


def test_queries_are_rescued_and_broken_against_each_channel_alone() -> None:
    found = contributions({"visual": VISUAL, "text": TEXT}, FUSED, "visual", protocol())
    counted = {name: value for name, value in found.items() if name.endswith(("_at_1", "_at_2")) and "channel/" in name}
    assert {name: value for name, value in counted.items() if name.startswith("channel/")} == {
        "channel/visual/rescued_at_1": 1.0,  # q2
        "channel/visual/broken_at_1": 1.0,  # q1
        "channel/visual/rescued_at_2": 1.0,  # q3
        "channel/visual/broken_at_2": 0.0,
        "channel/text/rescued_at_1": 0.0,
        "channel/text/broken_at_1": 0.0,
        "channel/text/rescued_at_2": 2.0,
        "channel/text/broken_at_2": 0.0,
    }
    for what in ("rescued", "broken"):
        for k in (1, 2, 3, 5, 10):
            assert found[f"ocr/{what}_at_{k}"] == found[f"channel/visual/{what}_at_{k}"]


def test_bounds_take_the_best_and_the_worst_channel_query_by_query() -> None:
    found = contributions({"visual": VISUAL, "text": TEXT}, FUSED, "visual", protocol())
    best = {name.removeprefix("best_channel/"): v for name, v in found.items() if name.startswith("best_channel/")}
    worst = {name.removeprefix("worst_channel/"): v for name, v in found.items() if name.startswith("worst_channel/")}
    assert (best["hit_rate_at_1"], worst["hit_rate_at_1"]) == (2 / 3, 0)
    assert (best["mean_rank"], worst["mean_rank"]) == ((1 + 1 + 3) / 3, (4 + 2 + 4) / 3)
    assert (best["median_rank"], worst["median_rank"]) == (1, 4)
    # The same numbers as those of a ranking that has these ranks.
    taken = ranks([4.0, 3, 2, 1], [1.0, 4, 2, 3], [4.0, 3, 2, 1], ANY)[Direction.t2v]
    assert best == pytest.approx(evaluate(taken, (1, 2), TieRule.pessimistic))
    assert set(best) == set(worst)


def test_a_median_between_two_queries_has_both_its_names() -> None:
    two = {"q1": [4.0, 3, 2, 1], "q2": [4.0, 3, 2, 1]}
    own = {Direction.t2v: rank(two, ITEMS, {"q1": {"a": 1}, "q2": {"c": 1}})}
    found = contributions({"text": own, "lexical": own}, own, None, protocol())
    assert (found["best_channel/median_rank"], found["best_channel/median_rank_mean"]) == (3, 2)


def test_the_reverse_direction_stands_under_its_own_names_and_text_alone_has_no_ocr() -> None:
    both = {name: {**own, Direction.v2t: own[Direction.t2v]} for name, own in {"text": VISUAL, "lexical": TEXT}.items()}
    fused = {**FUSED, Direction.v2t: FUSED[Direction.t2v]}
    found = contributions(both, fused, None, protocol())
    assert not any("ocr/" in name for name in found)
    forward = {name: value for name, value in found.items() if not name.startswith("v2t/")}
    assert {name.removeprefix("v2t/"): value for name, value in found.items() if name.startswith("v2t/")} == forward


def test_under_average_a_query_is_rescued_where_its_share_of_orders_grows() -> None:
    """Two level items: a hit at 1 in half of the orders. Under pessimistic nothing is rescued."""
    level, alone = [2.0, 2, 1, 0], [3.0, 2, 2, 1]
    low = ranks([1.0, 2, 1, 0], level, alone, ANY)
    high = ranks(level, level, alone, ANY)
    for rule, rescued in ((TieRule.average, 1), (TieRule.pessimistic, 0)):
        found = contributions({"text": low, "lexical": low}, high, None, protocol(rule))
        assert (found["channel/text/rescued_at_1"], found["channel/text/broken_at_1"]) == (rescued, 0)


def test_a_single_channel_contributes_nothing() -> None:
    assert contributions({"text": TEXT}, TEXT, None, protocol()) == {}
