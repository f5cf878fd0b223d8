"""The page that answers a question is stated three times in SDS KoPub VDR; here the statements are compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from glyphrank.datasets.kopub_vdr_tables import Document, Page, Question
from glyphrank.faults import Faults, shown
from glyphrank.ids import nfc

_SHOWN = 50
_LONGEST_NUMBER = 18
"""Digits of a page's number; more are none."""


def check_gold(path: Path, questions: Sequence[Question], pages: Sequence[Page], documents: Sequence[Document]) -> None:
    """Compares, for each question, the page's id, its rows in the corpus, and the rows of its document.

    Every row of a question must be of the document that its id names, and one of them the page of that id.

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


def check_documents(path: Path, documents: Sequence[Document], pages: Sequence[Page]) -> list[str]:
    """Compares the rows of each document with the ids in these rows. A document may be listed in parts.

    Args:
        path: the file of the documents, for the message.

    Returns:
        Notes: pages of the corpus that no document has contradict nothing.

    Raises:
        DataError: a row is beyond the corpus, its id is of another document, it is listed twice, or rows are not in the
            order of their pages' numbers; the first fifty faults are told.
    """
    faults = Faults(path, _SHOWN)
    listed: dict[int, int] = {}
    for document in documents:
        own = [row for row in document.pages if _has(pages, row) and _is_of(pages[row], document.id)]
        known = set(own)
        others = [row for row in document.pages if row not in known]
        for why in (*_foreign(others, pages), *_repeated(document.row, own, listed), *_disordered(own, pages)):
            faults.add(f"row {document.row}: page_indices of {shown(document.id)} {why}")
    faults.stop()
    without = [row for row in range(len(pages)) if row not in listed]
    if not without:
        return []
    return [f"{path.name}: {len(without)} pages are in no document, first row {without[0]}, {_page(pages, without[0])}"]


def _foreign(rows: Sequence[int], pages: Sequence[Page]) -> list[str]:
    """A fault where a document has rows that are beyond the corpus or of another document."""
    if not rows:
        return []
    more = f", and {len(rows) - 1} more of its rows are wrong" if len(rows) > 1 else ""
    return [f"have {rows[0]}, where the corpus has {_page(pages, rows[0])}{more}"]


def _repeated(place: int, rows: Sequence[int], listed: dict[int, int]) -> list[str]:
    """Faults of rows that a document has twice, or had in an earlier row of the annotations.

    Args:
        place: row of the annotations.
        listed: row of the corpus -> row of the annotations; it gets those of this document.
    """
    twice = [f"have {row} {times} times" for row, times in Counter(rows).items() if times > 1]
    earlier = {row: listed.setdefault(row, place) for row in rows}
    return twice + [f"have {row}, which row {first} has already" for row, first in earlier.items() if first != place]


def _disordered(rows: Sequence[int], pages: Sequence[Page]) -> list[str]:
    """A fault where a page stands behind one of a higher number; ids that end in no whole number are passed."""
    numbered = [(row, number) for row in dict.fromkeys(rows) if (number := _number(pages[row].id)) is not None]
    for (first, number), (second, next_number) in pairwise(numbered):
        if number >= next_number:
            before, behind = _page(pages, first), _page(pages, second)
            return [f"are not in page order: {first} ({before}) stands before {second} ({behind})"]
    return []


def _agree(question: Question, pages: Sequence[Page], holding: Mapping[str, set[int]]) -> bool:
    document = _document(question.page_id)
    held = holding.get(document, ())
    if not all(row in held and _has(pages, row) and _is_of(pages[row], document) for row in question.gold):
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


def _is_of(page: Page, document: str) -> bool:
    return _document(page.id) == nfc(document)


def _document(page_id: str) -> str:
    """The document of a page, in NFC: its id without the `_<page>` at the end."""
    return nfc(page_id.rpartition("_")[0])


def _number(page_id: str) -> int | None:
    """The number of a page in its document, None where its id ends in something else."""
    number = page_id.rpartition("_")[2]
    return int(number) if number.isascii() and number.isdigit() and len(number) <= _LONGEST_NUMBER else None
