from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from glyphrank.datasets.relevance import Known, Relevance, notes_of, relevance
from glyphrank.errors import DataError
from glyphrank.faults import Faults
from glyphrank.records import Item
from glyphrank.trec import Judgements, Qrels

QUERIES = Known(("q", "r"), "queries")
ITEMS = Known(("a", "b"), "corpus")


def over(gains: dict[str, dict[str, float]], queries: Known = QUERIES, items: Known = ITEMS) -> tuple[Relevance, str]:
    """What is found, and the faults."""
    faults = Faults(Path("qrels"))
    found = relevance(Qrels(gains, {}, 0), queries, items, faults)
    try:
        faults.stop()
    except DataError as error:
        return found, str(error)
    return found, ""


def test_relevance_is_stated_under_the_ids_of_the_dataset() -> None:  # case P04
    composed, apart = unicodedata.normalize("NFC", "각"), unicodedata.normalize("NFD", "각")
    found, faults = over({apart: {composed: 2.0}}, Known((composed,), "queries"), Known((apart,), "corpus"))
    assert found == Relevance({composed: {apart: 2.0}}, {composed})
    assert not faults


def test_a_query_with_nothing_relevant_was_judged() -> None:
    found, faults = over({"q": {"a": 1.0}, "r": {}})
    assert found == Relevance({"q": {"a": 1.0}}, {"q", "r"})
    assert not faults


def test_unknown_ids_are_each_named() -> None:
    _, faults = over({"q": {"a": 1.0, "z": 1.0}, "x": {"b": 1.0}})
    assert "2 faults" in faults
    assert "the query 'x' is not among the 2 queries of queries" in faults
    assert "query 'q' names the item 'z', not among the 2 items of corpus" in faults


def test_zero_overlap_is_one_fault_with_examples_of_both() -> None:  # case M12
    _, faults = over({"q": {f"page-{number}": 1.0 for number in range(300)}})
    assert faults == (
        "qrels: none of the 300 items that it names is among the 2 items of corpus: it names 'page-0', 'page-1', "
        "'page-2'; there are 'a', 'b'; are both of one dataset, subset and split?"
    )


@pytest.mark.parametrize(("named", "there"), [("1", "0001"), ("0012", "12"), ("12.0", "12"), ("7", "007.0")])
def test_zero_overlap_that_comes_of_numbers_says_so(named: str, there: str) -> None:  # case M12
    _, faults = over({"q": {named: 1.0}}, items=Known((there, "x"), "corpus"))
    assert "they differ by leading zeros or a '.0' at the end" in faults


def test_nothing_is_unknown_in_a_table_that_was_not_read_whole() -> None:
    assert over({"x": {"z": 1.0}}, Known(("q",), "queries", whole=False), Known((), "corpus"))[1] == ""


def test_rows_that_could_not_be_read_are_counted_beside_unknown_ids() -> None:
    _, faults = over({"q": {"a": 1.0, "z": 1.0}}, items=Known(("a",), "corpus", unnamed=3))
    assert faults.endswith("not among the 1 items of corpus that could be read (3 could not)")


def judgements(*rows: tuple[str, str, float]) -> tuple[Qrels, str]:
    """What the rows state, and the faults."""
    faults = Faults(Path("qrels"))
    gathered = Judgements()
    for number, row in enumerate(rows):
        try:
            gathered.add(f"row {number}", *row)
        except ValueError as error:
            faults.add(str(error))
    try:
        faults.stop()
    except DataError as error:
        return gathered.qrels, str(error)
    return gathered.qrels, ""


def test_judgements_are_graded_and_those_of_0_or_less_irrelevant() -> None:
    qrels, faults = judgements(("q", "a", 2), ("q", "b", 0.5), ("q", "c", 0), ("r", "a", -1))
    assert qrels == Qrels({"q": {"a": 2, "b": 0.5}, "r": {}}, {"q": frozenset({"c"}), "r": frozenset({"a"})}, 0)
    assert not faults


def test_repeated_judgements_are_dropped_and_counted() -> None:  # case M08
    qrels, faults = judgements(("q", "a", 1), ("q", "a", 1), ("q", "b", 0), ("q", "b", 0))
    assert qrels == Qrels({"q": {"a": 1}}, {"q": frozenset({"b"})}, 2)
    assert not faults


def test_conflicting_grades_are_an_error_that_names_both_rows() -> None:  # case M08
    composed, apart = unicodedata.normalize("NFC", "각"), unicodedata.normalize("NFD", "각")
    _, faults = judgements(("q", "a", 1), ("q", composed, 2), ("q", "a", 0), ("q", apart, 3))
    assert "2 faults" in faults
    assert "row 0 gives query 'q', item 'a' the gain 1 and row 2 the gain 0; wanted one gain for a pair" in faults
    assert "row 1 gives" in faults


def test_notes_name_repeats_and_titles() -> None:
    items = [Item("a", None, "x", {"title": "A"}), Item("b", None, "y", {"title": ""})]
    assert notes_of(Qrels({}, {}, 2), "qrels", items, "corpus") == (
        "qrels: 2 repeated rows were dropped",
        "corpus: 1 item has a title, which is kept as a slice and not searched",
    )
    assert notes_of(Qrels({}, {}, 0), "qrels", [], "corpus") == ()
