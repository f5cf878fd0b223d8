"""The page that answers a question is stated three times in SDS KoPub VDR; here the statements are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from glyphrank.datasets.folder_files import Faults, shown
from glyphrank.datasets.kopub_vdr_tables import Document, Page, Question
from glyphrank.ids import nfc

_SHOWN = 50


def check_gold(path: Path, questions: Sequence[Question], pages: Sequence[Page], documents: Sequence[Document]) -> None:
    """Compares, for each question, the page's id, its row in the corpus, and the rows of its document.

    Args:
        path: the file of the questions, for the message.

    Raises:
        DataError: they contradict each other, or a row is beyond the corpus. The first fifty questions are named with
            all that is stated; where all rows are off by the same number, that is said first.
    """
    faults = Faults(path, _SHOWN)
    places = {nfc(page.id): row for row, page in enumerate(pages)}
    holding: dict[str, set[int]] = {}
    for document in documents:
        holding.setdefault(nfc(document.id), set()).update(document.pages)
    shifts = []
    for question in questions:
        if not _agree(question, pages, holding):
            faults.add(_stated(question, pages, places, holding))
        shifts.append(places.get(nfc(question.page_id), question.gold[0]) - question.gold[0])
    if len(set(shifts)) == 1 and shifts[0]:
        faults.put_first(
            f"every ground_truth is {abs(shifts[0])} too {'small' if shifts[0] > 0 else 'large'}: rows of the corpus "
            "count from 0, in the published order"
        )
    faults.stop()


def check_documents(path: Path, documents: Sequence[Document], pages: Sequence[Page]) -> None:
    """Compares the rows of each document with the ids in these rows.

    Args:
        path: the file of the documents, for the message.

    Raises:
        DataError: a row is beyond the corpus, or its id is of another document; the first fifty documents are named.
    """
    faults = Faults(path, _SHOWN)
    for document in documents:
        wrong = [row for row in document.pages if not _has(pages, row) or _document(pages[row].id) != nfc(document.id)]
        if wrong:
            more = f", and {len(wrong) - 1} more of its rows are wrong" if len(wrong) > 1 else ""
            faults.add(
                f"row {document.row}: page_indices of {shown(document.id)} have {wrong[0]}, where the corpus has "
                f"{_page(pages, wrong[0])}{more}"
            )
    faults.stop()


def _agree(question: Question, pages: Sequence[Page], holding: Mapping[str, set[int]]) -> bool:
    if not all(_has(pages, row) and row in holding.get(_document(pages[row].id), ()) for row in question.gold):
        return False
    return nfc(question.page_id) in {nfc(pages[row].id) for row in question.gold}


def _stated(
    question: Question, pages: Sequence[Page], places: Mapping[str, int], holding: Mapping[str, set[int]]
) -> str:
    """All that is stated about the page of one question."""
    place = places.get(nfc(question.page_id))
    where = "of no page of the corpus" if place is None else f"of row {place} of the corpus"
    rows = " and ".join(f"{row} ({_page(pages, row)})" for row in question.gold)
    document = _document(question.page_id)
    held = holding.get(document)
    if held is None:
        noted = f"have no document {shown(document)}"
    elif all(row in held for row in question.gold):
        noted = "have that row for its document"
    else:
        noted = f"have rows {min(held)} to {max(held)} for its document"
    return f"row {question.row}: id is {shown(question.page_id)}, {where}; ground_truth is {rows}; annotations {noted}"


def _has(pages: Sequence[Page], row: int) -> bool:
    return 0 <= row < len(pages)


def _page(pages: Sequence[Page], row: int) -> str:
    return shown(pages[row].id) if _has(pages, row) else f"nothing: it has rows 0 to {len(pages) - 1}"


def _document(page_id: str) -> str:
    """The document of a page, in NFC: its id without the `_<page>` at the end."""
    return nfc(page_id.rpartition("_")[0])
