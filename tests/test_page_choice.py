"""Which queries the page of misses shows, and by what they can be chosen."""

from __future__ import annotations

import numpy as np
import pytest

from glyphrank.contributions import contributions
from glyphrank.metrics import Protocol
from glyphrank.page_choice import Judged, choose, fields_of, judged, kinds_of
from glyphrank.records import Direction, Source, View
from glyphrank.ties import TieRule
from ranked import MISS, rank

ITEMS = "abcdefghijkl"
RELEVANT = {"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q3": {"c": 1.0}, "q4": {"l": 1.0}}
PROTOCOL = Protocol((1,), (Direction.t2v,), TieRule.pessimistic, tuple(View), tuple(Source), None, "ndcg_at_1", "item")


def row(first: str) -> list[float]:
    """Scores that put one item first and leave the others in alphabetical order."""
    return [20.0 if item == first else 12.0 - place for place, item in enumerate(ITEMS)]


QUERIES = ("q1", "q2", "q3", "q4", "q5")
VISUAL = {Direction.t2v: rank(dict(zip(QUERIES, map(row, "abdaa"), strict=True)), ITEMS, RELEVANT)}
FUSED_ROWS = [row("b"), row("b"), row("c"), row("a"), [MISS] * len(ITEMS)]
FUSED = {Direction.t2v: rank(dict(zip(QUERIES, FUSED_ROWS, strict=True)), ITEMS, RELEVANT)}


def found() -> Judged:
    return judged({"visual": VISUAL, "text": VISUAL, "fused": FUSED}, {"visual": "by OCR"}, PROTOCOL)


def test_filters_name_missed_rescued_and_broken_queries_as_the_contributions_count_them() -> None:
    passes = {kind.key: np.flatnonzero(chosen).tolist() for kind, chosen in found().kinds}
    assert passes == {
        "missed_1": [0, 3],
        "missed_10": [3],
        "rescued_visual_1": [2],
        "broken_visual_1": [0],
        "rescued_visual_10": [],
        "broken_visual_10": [],
        "unanswered": [4],
        "unjudged": [4],
    }
    counted = contributions({"visual": VISUAL, "text": VISUAL}, FUSED, "visual", PROTOCOL)
    for what in ("rescued", "broken"):
        for cutoff in (1, 10):
            assert len(passes[f"{what}_visual_{cutoff}"]) == counted[f"ocr/{what}_at_{cutoff}"]
    assert [kind.label for kind in kinds_of(found())] == [
        "Missed: not at 1",
        "Missed: not in the first 10",
        "Rescued by OCR at 1",
        "Broken by OCR at 1",
        "Nothing was retrieved",
        "Without a relevant item",
    ]


def test_the_worst_come_first_and_those_without_a_relevant_item_last() -> None:
    assert choose(found(), 5) == [3, 0, 1, 2, 4]


def test_a_part_keeps_room_for_the_rescued_and_the_broken() -> None:
    best = {"fused": np.array([9.0, 8, 7, 6, 5, 1, 2, 3])}
    none = np.zeros(8, dtype=np.bool_)
    rescued, broken = none.copy(), none.copy()
    rescued[5], broken[6] = True, True
    assert choose(Judged(best, (), rescued, broken), 4) == [0, 1, 6, 5]
    assert choose(Judged(best, (), none, none), 4) == [0, 1, 2, 3]


@pytest.mark.parametrize(("values", "shown"), [(["a", "b", "a"], ("a", "b")), (["a", "a", "a"], None)])
def test_fields_that_tell_shown_queries_apart_can_be_chosen_by(values: list[str], shown: tuple[str, ...]) -> None:
    fields = {"type": dict(zip(QUERIES, values, strict=False)), "answer": {}}
    assert fields_of(fields, QUERIES).get("type") == shown
