"""The page that answers a question is stated three times: what is said where the statements contradict each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from glyphrank.datasets.kopub_vdr import KopubVdr
from glyphrank.datasets.kopub_vdr_tables import ANNOTATIONS, QUESTIONS
from glyphrank.errors import DataError
from glyphrank.records import Task
from glyphrank.runtime import Runtime
from kopub_miniature import Kopub, kopub

REVISION = "759fcae092aef58436d125e72f74a2b53cdd5640"


@pytest.fixture
def published() -> Kopub:
    return kopub()


def fault(root: Path) -> str:
    with pytest.raises(DataError) as caught:
        load(root, root / "outputs")
    return str(caught.value)


def load(root: Path, outputs: Path) -> Task:
    runtime = Runtime("cpu", 8, 0, 60, 4, False, outputs, outputs / "cache")
    return KopubVdr(root, "team/pages", REVISION).load(runtime)


def test_a_ground_truth_beyond_the_corpus_is_named_with_all_that_is_stated(  # case M15
    tmp_path: Path, published: Kopub
) -> None:
    published.questions[3]["ground_truth"] = [18]
    published.questions[5]["ground_truth"] = [-1]
    message = fault(published.write(tmp_path))
    assert message.startswith(
        f"{tmp_path}/{QUESTIONS}: 2 faults:\n  row 3: id is {published.questions[3]['id']!r}, of row "
    )
    assert "ground_truth is 18 (nothing: it has rows 0 to 17)" in message
    assert "ground_truth is -1 (nothing: it has rows 0 to 17)" in message


@pytest.mark.parametrize(("shift", "said"), [(1, "1 too large"), (-1, "1 too small"), (2, "2 too large")])
def test_a_shifted_ground_truth_is_said_to_be_shifted(  # case M15
    tmp_path: Path, published: Kopub, shift: int, said: str
) -> None:
    for row in published.questions:
        row["ground_truth"] = [row["ground_truth"][0] + shift]
    message = fault(published.write(tmp_path))
    assert (
        message.splitlines()[1]
        == f"  every ground_truth is {said}: rows of the corpus count from 0, in the published order"
    )
    assert f"{QUESTIONS}: 17 faults:" in message


def test_one_question_that_names_a_neighbour_of_its_page_is_shown_with_both_ids(  # case M15
    tmp_path: Path, published: Kopub
) -> None:
    published.questions[0]["ground_truth"] = [1]
    first, second = (published.corpus[row]["id"] for row in (0, 1))
    assert fault(published.write(tmp_path)) == (
        f"{tmp_path}/{QUESTIONS}: row 0: id is {first!r}, of row 0 of the corpus; ground_truth is 1 ({second!r}); "
        "annotations have that row for its document"
    )


def test_a_question_whose_page_is_in_no_corpus_is_named(tmp_path: Path, published: Kopub) -> None:
    published.questions[0]["id"] = "elsewhere_1"
    assert "row 0: id is 'elsewhere_1', of no page of the corpus; ground_truth is 0 (" in (
        message := fault(published.write(tmp_path))
    )
    assert message.endswith("annotations have no document 'elsewhere'")


def test_annotations_that_leave_a_gold_page_out_are_a_contradiction(tmp_path: Path, published: Kopub) -> None:
    published.annotations[0]["page_indices"] = [1, 2]
    message = fault(published.write(tmp_path))
    assert "row 0: id is" in message
    assert "annotations have rows 1 to 2 for its document" in message


def test_pages_in_another_order_contradict_nearly_every_question(tmp_path: Path, published: Kopub) -> None:
    published.corpus = published.corpus[1:] + published.corpus[:1]
    message = fault(published.write(tmp_path))
    assert f"{QUESTIONS}: 16 faults:" in message


def test_a_document_with_a_page_of_another_is_named(tmp_path: Path, published: Kopub) -> None:
    published.annotations[1]["page_indices"] += [5, 99]
    document, page = published.annotations[1]["file_id"], published.corpus[5]["id"]
    assert fault(published.write(tmp_path)) == (
        f"{tmp_path}/{ANNOTATIONS}: row 1: page_indices of {document!r} have 5, where the corpus has {page!r}, and 1 "
        "more of its rows are wrong"
    )


def test_every_gold_page_must_be_of_the_document_that_the_question_names(  # case M15
    tmp_path: Path, published: Kopub
) -> None:
    row = next(row for row in published.questions if row["ground_truth"][0] > 3)
    (gold,) = row["ground_truth"]
    row["ground_truth"] = [gold, 0]
    message = fault(published.write(tmp_path))
    assert (
        f"{QUESTIONS}: row {published.questions.index(row)}: id is {row['id']!r}, of row {gold} of the corpus"
        in message
    )
    assert f" and 0 ({published.corpus[0]['id']!r}); annotations have rows " in message


def test_pages_of_a_document_out_of_their_order_are_named(tmp_path: Path, published: Kopub) -> None:
    published.annotations[0]["page_indices"] = [0, 2, 1]
    document, (_, second, third) = published.annotations[0]["file_id"], published.corpus[:3]
    assert fault(published.write(tmp_path)) == (
        f"{tmp_path}/{ANNOTATIONS}: row 0: page_indices of {document!r} are not in page order: 2 ({third['id']!r}) "
        f"stands before 1 ({second['id']!r})"
    )


def test_page_numbers_are_compared_as_numbers_and_other_endings_are_passed(tmp_path: Path, published: Kopub) -> None:
    document = published.annotations[0]["file_id"]
    for row, number in enumerate(("9", "cover", "10")):
        published.corpus[row]["id"] = f"{document}_{number}"
    published.questions = [row for row in published.questions if row["ground_truth"][0] > 2]
    root = published.write(tmp_path)
    assert len(load(root, tmp_path / "outputs").items) == 18
    published.corpus[2]["id"] = f"{document}_{'9' * 5000}"
    root = published.write(tmp_path)
    assert len(load(root, tmp_path / "outputs").items) == 18


def test_pages_in_no_document_are_noted(tmp_path: Path, published: Kopub) -> None:
    published.annotations[0]["page_indices"] = published.annotations[0]["page_indices"][:2]
    published.questions = [row for row in published.questions if row["ground_truth"] != [2]]
    task = load(published.write(tmp_path), tmp_path / "outputs")
    page = published.corpus[2]["id"]
    assert any(f"pages are in no document, first row 2, {page!r}" in note for note in task.notes)


def test_rows_that_documents_list_twice_are_named(tmp_path: Path, published: Kopub) -> None:
    first, last = published.annotations[0], published.annotations[-1]
    first["page_indices"] = [0, 0, 1]
    last_rows = list(last["page_indices"])
    published.annotations.append({**last, "page_indices": last_rows[:1]})
    document = first["file_id"]
    lines = fault(published.write(tmp_path)).splitlines()
    assert lines[1:] == [
        f"  row 0: page_indices of {document!r} have 0 2 times",
        f"  row {len(published.annotations) - 1}: page_indices of {last['file_id']!r} have {last_rows[0]}, which row "
        f"{len(published.annotations) - 2} has already",
    ]


def test_a_document_over_several_rows_of_the_annotations_is_one(tmp_path: Path, published: Kopub) -> None:
    rows = published.annotations[0]["page_indices"]
    published.annotations.append({**published.annotations[0], "page_indices": rows[2:]})
    published.annotations[0]["page_indices"] = rows[:2]
    root = published.write(tmp_path)
    assert len(load(root, tmp_path / "outputs").items) == 18


def test_only_the_first_fifty_contradictions_are_spelt_out(tmp_path: Path, published: Kopub) -> None:
    published.questions = [{**published.questions[0], "id": f"none_{number}"} for number in range(60)]
    message = fault(published.write(tmp_path))
    assert "60 faults:" in message
    assert len(message.splitlines()) == 52
    assert message.endswith("and 10 more")


def test_contradictions_of_questions_and_of_documents_come_together(tmp_path: Path, published: Kopub) -> None:
    published.questions[0]["ground_truth"] = [99]
    published.annotations[-1]["page_indices"] += [0]
    lines = fault(published.write(tmp_path)).splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"{tmp_path}/{QUESTIONS}", f"{tmp_path}/{ANNOTATIONS}"]
