"""Who belongs together, by hand."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glyphrank.errors import DataError
from glyphrank.grouping import Grouping, connected, effective_number, groups_by_item, groups_of
from glyphrank.ranking import reverse
from glyphrank.records import Direction, Item, Query, Task


def _task(
    relevant: Mapping[str, Sequence[str]],
    fields: Mapping[str, str] | None = None,
    item_fields: Mapping[str, str] | None = None,
) -> Task:
    """Queries of one letter each, in order, and the items they name; `fields` are values of the field `place`."""
    items = dict.fromkeys(item for found in relevant.values() for item in found)
    queries = tuple(Query(name, name, _place(name, fields)) for name in relevant)
    gallery = tuple(Item(item, None, "", _place(item, item_fields)) for item in (*items, "unwanted"))
    return Task("tiny", queries, gallery, {name: dict.fromkeys(found, 1.0) for name, found in relevant.items()}, "")


def _place(name: str, fields: Mapping[str, str] | None) -> dict[str, str]:
    return {"place": fields[name]} if fields and name in fields else {}


def _grouped(task: Task, group: str, direction: Direction = Direction.t2v) -> tuple[list[int], int]:
    found = groups_of(task, direction, group)
    assert found.note is None
    return found.numbers.tolist(), found.count


def test_queries_that_share_an_item_are_one_group() -> None:
    task = _task({"a": ["1"], "b": ["2"], "c": ["1"], "d": ["3"]})
    assert _grouped(task, "item") == ([0, 1, 0, 2], 3)


def test_queries_that_share_items_through_others_are_one_group() -> None:
    task = _task({"a": ["1", "2"], "b": ["3"], "c": ["4", "3"], "d": ["2", "4"], "e": ["5"]})
    assert _grouped(task, "item") == ([0, 0, 0, 0, 1], 2)


def test_where_no_queries_share_an_item_each_is_alone() -> None:
    task = _task({"a": ["1"], "b": ["2", "3"], "c": ["4"]})
    assert _grouped(task, "item") == _grouped(task, "none") == ([0, 1, 2], 3)


def test_a_query_without_a_relevant_item_is_alone_and_no_group_that_counts() -> None:  # case M05
    task = _task({"a": ["1"], "b": [], "c": ["1"], "d": []})
    assert _grouped(task, "item") == ([0, 1, 0, 2], 1)
    assert _grouped(task, "none") == ([0, 1, 2, 3], 2)


def test_items_that_share_a_query_are_one_group() -> None:
    task = _task({"a": ["1", "2"], "b": ["3"], "c": ["3"]})
    assert _grouped(task, "item", Direction.v2t) == ([0, 0, 1, 2], 2)
    assert _grouped(task, "none", Direction.v2t) == ([0, 1, 2, 3], 3)


def test_ids_are_matched_in_their_composed_form() -> None:
    composed, apart = "쪽 é", unicodedata.normalize("NFD", "쪽 é")
    assert composed != apart
    assert connected([composed, "b"], {apart: ["1"], "b": ["1"]}).tolist() == [0, 0]
    assert connected(["a", "b"], {"a": [composed], "b": [apart]}).tolist() == [0, 0]


def test_numbers_begin_at_0_in_the_order_of_the_queries() -> None:
    assert connected(["z", "y", "x"], {"x": ["1"], "y": ["2"], "z": ["1"]}).tolist() == [0, 1, 0]
    assert connected([], {}).tolist() == []


JUDGED = st.dictionaries(st.sampled_from("abcdefgh"), st.sets(st.integers(0, 9).map(str), max_size=3), max_size=8)


@given(JUDGED)
def test_groups_are_the_components_and_both_directions_agree(relevant: dict[str, set[str]]) -> None:
    queries, items = list("abcdefgh"), [str(number) for number in range(10)]
    of_query = dict(zip(queries, connected(queries, relevant).tolist(), strict=True))
    gains = {query: dict.fromkeys(sorted(found), 1.0) for query, found in relevant.items()}
    of_item = dict(zip(items, connected(items, reverse(gains)).tolist(), strict=True))
    reached = {query: {query} for query in queries}  # by closure: whoever shares an item with anyone reached
    for _ in queries:
        for query, others in reached.items():
            shared = {item for other in others for item in relevant.get(other, ())}
            reached[query] = others | {other for other in queries if shared & relevant.get(other, set())}
    for first in queries:
        for second in queries:
            assert (of_query[first] == of_query[second]) == (second in reached[first])
    pairs = {(of_query[query], of_item[item]) for query, found in relevant.items() for item in found}
    assert len({first for first, _ in pairs}) == len({second for _, second in pairs}) == len(pairs)


def test_judgements_that_chain_nearly_all_queries_together_leave_each_alone() -> None:
    chain = {f"q{number}": [str(number), str(number + 1)] for number in range(12)}
    found = groups_of(_task(chain | {"alone": ["x"]}), Direction.t2v, "item")
    assert (found.numbers.tolist(), found.count) == (list(range(13)), 13)
    assert found.note is not None
    assert found.note.startswith("shared judgements chain 12 of 13 queries with relevant ones into one group (of 2)")
    items = groups_of(_task(chain), Direction.v2t, "item")
    assert items.count == 13
    assert "13 of 13 items" in str(items.note)


def test_few_groups_are_kept_unless_one_holds_more_than_half_of_the_queries() -> None:
    even = {f"q{number}": [str(number % 7)] for number in range(280)}
    found = groups_of(_task(even), Direction.t2v, "item")
    assert (found.count, len(set(found.numbers.tolist()))) == (7, 7)
    assert found.note == "7 groups of 280 queries: too few for intervals and tests that can be trusted"
    for largest, count in ((10, 11), (11, 20)):
        relevant = {f"q{number}": ["big" if number < largest else str(number)] for number in range(20)}
        found = groups_of(_task(relevant | {"nothing": []}), Direction.t2v, "item")
        assert found.count == count
    assert found.note is not None
    assert "chain 11 of 20 queries" in found.note


def test_few_items_with_many_queries_each_are_grouped_in_reverse_too() -> None:
    pairs = {f"q{number}": [f"{number}a", f"{number}b", f"{number}c", f"{number}d"] for number in range(3)}
    found = groups_of(_task(pairs), Direction.v2t, "item")
    assert found.numbers.tolist() == [0] * 4 + [1] * 4 + [2] * 4 + [3]
    assert str(found.note).startswith("3 groups of 12 items")


def test_groups_can_be_had_of_judgements_alone() -> None:
    task = _task({f"q{number}": [str(number // 3)] for number in range(60)})
    ids = [query.id for query in task.queries]
    alone, whole = groups_by_item(ids, task.relevant), groups_of(task, Direction.t2v, "item")
    assert (alone.numbers.tolist(), alone.count, alone.note) == (whole.numbers.tolist(), whole.count, whole.note)
    assert groups_by_item([], {}).count == 0


def test_fewer_than_ten_queries_stay_grouped_however_they_chain() -> None:
    assert _grouped(_task({letter: ["1"] for letter in "abcdefghi"}), "item") == ([0] * 9, 1)


def test_ten_groups_are_enough() -> None:
    paired = {f"q{number}": [str(number // 2)] for number in range(20)}
    assert _grouped(_task(paired), "item") == ([number // 2 for number in range(20)], 10)


def test_a_field_groups_queries_by_its_value() -> None:
    task = _task({"a": ["1"], "b": ["2"], "c": ["3"], "d": ["1"]}, {"a": "x", "b": "y", "c": "x"})
    assert _grouped(task, "place") == ([0, 1, 0, 2], 3)  # d has no value and is alone


def test_a_value_that_reads_as_a_number_is_no_place_in_the_list() -> None:
    task = _task({"a": ["1"], "b": ["2"], "c": ["3"]}, {"a": "1", "c": "1"})
    assert _grouped(task, "place") == ([0, 1, 0], 2)


def test_items_go_by_their_own_field_or_that_of_their_queries_where_these_agree() -> None:
    relevant = {"a": ["1"], "b": ["2"], "c": ["1", "2", "3"], "d": ["4"]}
    places = {"a": "x", "b": "y", "c": "x", "d": "y"}
    # 1: x and x; 2: y and x, so alone; 3: x; 4: y; unwanted: alone
    assert _grouped(_task(relevant, places), "place", Direction.v2t) == ([0, 1, 0, 2, 3], 3)
    own = {"1": "x", "2": "x", "3": "y", "4": "y", "unwanted": "x"}
    assert _grouped(_task(relevant, places, own), "place", Direction.v2t) == ([0, 0, 1, 1, 0], 2)


def test_few_groups_of_a_field_are_kept_and_said() -> None:
    queries = {f"q{number}": [str(number)] for number in range(30)}
    task = _task(queries, {name: "even" if int(name[1:]) % 2 else "odd" for name in queries})
    found = groups_of(task, Direction.t2v, "place")
    assert (found.count, len(set(found.numbers.tolist()))) == (2, 2)
    assert str(found.note).startswith("2 groups of 30 queries: too few")
    uneven = _task(queries, {name: "even" if int(name[1:]) % 3 else "odd" for name in queries})
    assert str(groups_of(uneven, Direction.t2v, "place").note).startswith("2 groups of 30 queries, which count as 1.8")


def test_the_effective_number_counts_groups_of_one_size_in_full() -> None:
    assert effective_number(np.array([3, 3, 5, 5, 9, 9])) == 3
    assert effective_number(np.array([0] * 9 + [1])) == 100 / 82
    assert effective_number(np.array([], dtype=np.int64)) == 0


def test_an_unknown_field_is_an_error_that_names_those_there_are() -> None:
    task = _task({"a": ["1"]}, {"a": "x"})
    with pytest.raises(DataError, match=r"no query has the field 'plaec' of metrics\.group; their fields are place"):
        groups_of(task, Direction.t2v, "plaec")
    with pytest.raises(DataError, match="they have no fields"):
        groups_of(_task({"a": ["1"]}), Direction.v2t, "place")


def test_a_group_is_a_record_of_numbers() -> None:
    found = groups_of(_task({"a": ["1"]}), Direction.t2v, "item")
    assert isinstance(found, Grouping)
    assert found.numbers.dtype == np.int64
