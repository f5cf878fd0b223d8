"""The best that can be reached, by what items are told apart by."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from glyphrank.audit.reachable import reachable
from glyphrank.records import Direction, Item, Task
from glyphrank.ties import TieRule
from tasks import make_task


def _task() -> Task:
    """Three queries with an item each; two items have equal texts, and one has none."""
    items = [Item("a", None, "same"), Item("b", None, "same"), Item("c", None, "")]
    return make_task({"p": "1", "q": "2", "r": "3"}, items, {"p": ["a"], "q": ["b"], "r": ["c"]})


def _hits(task: Task, digests: Sequence[str | None] | None, rule: TieRule) -> dict[str, float]:
    texts = [item.text for item in task.items]
    return {
        best.view: best.metrics["hit_rate_at_1"]
        for best in reachable(task, texts, digests)
        if best.direction is Direction.t2v and best.rule is rule
    }


def test_equal_texts_tie_and_empty_ones_are_never_found() -> None:
    assert _hits(_task(), ("1", "2", "3"), TieRule.optimistic) == {"text": pytest.approx(2 / 3), "frames": 1}
    assert _hits(_task(), ("1", "2", "3"), TieRule.pessimistic) == {"text": 0, "frames": 1}


def test_where_nobody_looked_no_two_items_are_alike() -> None:
    assert _hits(_task(), None, TieRule.pessimistic) == {"text": 0, "items": 1}


def test_an_item_that_cannot_be_read_is_never_found_by_its_looks() -> None:
    assert _hits(_task(), ("1", None, "3"), TieRule.pessimistic) == {
        "text": 0,
        "frames": pytest.approx(2 / 3),
        "items": 1,
    }


def test_where_nothing_can_be_read_there_is_no_ceiling_by_looks() -> None:
    assert set(_hits(_task(), (None, None, None), TieRule.pessimistic)) == {"text", "items"}


def test_items_of_unknown_text_are_unlike_all_others() -> None:
    items = [Item("a", None, None), Item("b", None, None), Item("c", None, "text", published_ocr="read")]
    task = make_task({"p": "1", "q": "2"}, items, {"p": ["a"], "q": ["b"]})
    assert _hits(task, None, TieRule.pessimistic) == {"text": 1, "published_ocr": 1, "items": 1}


def test_there_is_a_line_for_every_direction_and_rule() -> None:
    found = reachable(_task(), [None] * 3, None)
    assert [(best.direction, best.rule) for best in found] == [(way, rule) for way in Direction for rule in TieRule]
    assert all(best.is_exact for best in found)
