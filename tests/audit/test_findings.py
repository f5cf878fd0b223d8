"""What an audit finds, one oddity at a time, and that it finds nothing where nothing is odd."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from glyphrank.audit import audit
from glyphrank.audit.records import Finding, Level
from glyphrank.records import Item, Media, Task
from tasks import Seen, make_task
from textvr_captions import read_captions

LONG = "numbers of the harbour of "


def _found(task: Task, looks: Seen | None = None, thin_below: int = 10) -> dict[str, Finding]:
    findings = audit(task, looks, thin_below, 0.1).findings
    assert len({finding.kind for finding in findings}) == len(findings)
    return {finding.kind: finding for finding in findings}


def _two(first: str | None = LONG + "Hara", second: str | None = LONG + "Moa") -> Task:
    """Two queries, two items."""
    return make_task({"p": "hara", "q": "moa"}, {"a": first, "b": second}, {"p": ["a"], "q": ["b"]})


def _picture(name: str) -> Item:
    return Item(name, Media(Path(f"/nowhere/{name}.png"), None, name), None)


def test_nothing_is_found_where_nothing_is_odd() -> None:
    found = audit(_two(), Seen(("1", "2")), 10, 0.1)
    assert found.findings == found.errors == ()
    assert (found.task, found.queries, found.items) == ("tiny", 2, 2)


def test_media_that_cannot_be_read_are_errors_with_their_reasons() -> None:
    task = make_task({"q": "x"}, [_picture("a"), _picture("b"), Item("c", None, LONG)], {"q": ["a"]})
    looks = Seen((None, "1", None), {0: "a.png: damaged", 2: "it has no media to look at"})
    finding = _found(task, looks)["unreadable_media"]
    assert finding.level is Level.error
    assert finding.message == "1 of 3 items cannot be read"
    assert (finding.ids, finding.reasons) == (("a",), {"a": "a.png: damaged"})
    assert audit(task, looks, 10, 0.1).errors == (finding,)


def test_a_page_without_a_readable_document_is_an_error_though_nobody_looked(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7 cut")
    task = make_task({"q": "x"}, [Item("a", Media(tmp_path / "a.pdf", 1, "d"), None)], {"q": ["a"]})
    assert "a.pdf" in _found(task)["unreadable_media"].reasons["a"]


def test_the_text_layer_of_a_page_is_judged(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), invariant=1)
    for words in ("thin", "a page with quite some words", ""):
        canvas.drawString(50, 500, words)
        canvas.showPage()
    canvas.save()
    pages = [Item(f"a_{page}", Media(tmp_path / "a.pdf", page, str(page)), None) for page in (1, 2, 3)]
    found = _found(make_task({"q": "x"}, pages, {"q": ["a_1"]}))
    assert found["thin_text"].ids == ("a_1",)
    assert found["empty_text"].ids == ("a_3",)


def test_items_of_which_there_is_nothing_are_named() -> None:
    items = [Item("a", None, None), Item("b", None, " "), Item("c", None, None, published_ocr=LONG)]
    finding = _found(make_task({"q": "x"}, items, {"q": ["a"]}))["nothing_to_see"]
    assert finding.ids == ("a", "b")
    assert finding.message == "2 of 3 items have neither media nor text; nothing can retrieve them"


def test_queries_without_relevant_items_and_items_that_nobody_asks_for_are_counted() -> None:
    task = make_task({"p": "x", "q": "y"}, {"a": LONG, "b": LONG + "b", "c": LONG + "c"}, {"p": ["a"], "q": []})
    found = _found(task)
    assert found["queries_without_relevant"].ids == ("q",)
    assert found["queries_without_relevant"].level is Level.warning
    assert found["items_not_asked_for"].message == "2 of 3 items are relevant to no query"
    assert found["items_not_asked_for"].ids == ()


def test_decomposed_ids_queries_and_texts_are_counted() -> None:
    apart = unicodedata.normalize("NFD", "항구 통계 자료집")
    task = make_task({apart: apart, "q": "자료"}, {"a": apart, "b": "항구 통계 자료집"}, {"q": ["a"]})
    found = _found(task, thin_below=2)
    assert found["ids_not_nfc"].level is Level.note
    assert found["ids_not_nfc"].ids == (apart,)
    assert found["ids_not_nfc"].message.startswith("1 of 4 ids are not in NFC")
    assert found["queries_not_nfc"].ids == (apart,)
    assert found["texts_not_nfc"].ids == ("a",)
    assert found["texts_not_nfc"].level is Level.warning


def test_relevance_may_be_written_in_another_normal_form() -> None:
    apart = unicodedata.normalize("NFD", "항구_1")
    found = _found(make_task({"q": "x"}, {"항구_1": LONG}, {"q": [apart]}))
    assert "items_not_asked_for" not in found
    assert "queries_without_relevant" not in found


def test_empty_thin_and_garbled_texts_are_told_apart() -> None:
    items = [Item("a", None, " \n"), Item("b", None, "a few"), Item("c", None, "(cid:12)" * 4 + LONG)]
    items += [Item("d", None, None, published_ocr=text) for text in ("",)]
    items += [Item("e", None, LONG, published_ocr="\ufffd" * 20)]
    found = _found(make_task({"q": "x"}, items, {"q": ["a"]}))
    named = {kind: finding.ids for kind, finding in found.items() if kind.endswith(("_text", "_ocr"))}
    assert named == {
        "empty_text": ("a",),
        "thin_text": ("b",),
        "garbled_text": ("c",),
        "empty_ocr": ("d",),
        "garbled_ocr": ("e",),
    }
    assert found["thin_text"].message == "1 of 4 item texts have less than 10 characters"
    assert found["garbled_text"].message.endswith("more than 10% of them is no readable text")


def test_repeats_are_grouped_and_empty_texts_are_none() -> None:
    items = {"a": LONG, "b": "", "c": LONG, "d": "", "e": LONG + "e", "f": LONG + "e", "g": LONG}
    task = make_task({"q": "x"}, items, {"q": ["a"]})
    finding = _found(task, Seen(("1", "2", "1", "3", "4", "5", None), {6: "gone"}))
    assert finding["equal_texts"].groups == (("a", "c", "g"), ("e", "f"))
    assert finding["equal_texts"].message == (
        "5 item texts, 2 of them distinct: 2 groups of equal ones hold 5, the largest 3"
    )
    assert finding["equal_looks"].ids == ("a", "c")
    assert finding["equal_looks"].message.startswith("6 items that were looked at, 5 of them distinct: 1 group of")


def test_equal_queries_that_want_other_items_are_a_warning() -> None:
    queries = {"p": "sign", "q": "sign", "r": "shop", "s": "shop"}
    task = make_task(queries, {"a": LONG, "b": LONG + "b"}, {"p": ["a"], "q": ["b"], "r": ["a"], "s": ["a"]})
    found = _found(task)
    assert found["equal_queries"].groups == (("p", "q"), ("r", "s"))
    assert found["equal_queries_want_other_items"].groups == (("p", "q"),)
    assert found["equal_queries_want_other_items"].message.startswith("2 of 4 queries are equal to others that want")


def test_what_loading_said_stands_among_the_findings_gravest_first() -> None:
    task = make_task(
        {"q": "x"}, [_picture("a")], {"q": ["a"]}, notes=("2 rows were dropped",), tags={"gallery": "1 of 2"}
    )
    levels = [finding.level for finding in audit(task, Seen((None,), {0: "gone"}), 10, 0.1).findings]
    assert levels == [Level.error, Level.warning, Level.note]
    found = _found(task)
    assert (found["tag"].message, found["loading"].message) == ("gallery: 1 of 2", "2 rows were dropped")


@pytest.mark.shared
def test_the_repeated_captions_of_textvr_are_counted(shared_data: Path) -> None:
    found = audit(read_captions(shared_data / "textvr"), None, 100, 0.1)
    finding = next(finding for finding in found.findings if finding.kind == "equal_queries")
    assert finding.message == (
        "2727 query texts, 2454 of them distinct: 223 groups of equal ones hold 496, the largest 7"
    )
    assert (len(finding.groups), len(finding.ids)) == (223, 496)
    assert (found.queries, found.items) == (2727, 2727)
