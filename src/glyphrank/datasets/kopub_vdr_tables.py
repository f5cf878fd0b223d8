"""The three tables of SDS KoPub VDR: from parquet files to records, with every fault named by its row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glyphrank.datasets.parquet_tables import Kind, Table
from glyphrank.errors import DataError
from glyphrank.faults import Faults, shown
from glyphrank.ids import nfc

QUESTIONS = "SDS-KoPub-QA.parquet"
CORPUS = "SDS-KoPub-corpus.parquet"
ANNOTATIONS = "SDS-KoPub-annotations.parquet"
_SHOWN = 50


@dataclass(frozen=True)
class Page:
    """A row of the corpus; a null text or OCR text is ""."""

    id: str
    text: str
    ocr: str


@dataclass(frozen=True)
class Question:
    """A row of the questions.

    Attributes:
        page_id: published id of the page that answers it.
        gold: rows of the corpus, from 0, that answer it; at least one.
        slices: `type` and `domain`, where they are not null.
    """

    row: int
    page_id: str
    text: str
    gold: tuple[int, ...]
    slices: Mapping[str, str]


@dataclass(frozen=True)
class Document:
    """A row of the annotations: the id that the pages' ids begin with, and their rows in the corpus, from 0."""

    row: int
    id: str
    pages: tuple[int, ...]


def read_pages(path: Path) -> tuple[list[Page], list[str]]:
    """All pages without their pictures, and notes on what counts as empty.

    Raises:
        DataError: the file is damaged or of another schema, an id is null or empty, or two are equal in NFC.
    """
    rows = _rows(
        path, {"id": [Kind.text], "text": [Kind.text], "ocr": [Kind.text]}, {"image": [Kind.picture, Kind.text]}
    )
    faults = Faults(path, _SHOWN)
    first: dict[str, int] = {}
    for row, (name, _, _) in enumerate(rows):
        why = _id_fault(name)
        if why:
            faults.add(f"row {row}: {why}")
            continue
        earlier = first.setdefault(nfc(name), row)
        if earlier != row:
            spelled = "" if rows[earlier][0] == name else f" (there as {rows[earlier][0]!a}, equal in NFC)"
            faults.add(f"row {row}: the id {shown(name)} stands in row {earlier} already{spelled}; ids must be unique")
    faults.stop()
    notes = [
        f"{path.name}: {count} of {len(rows)} pages have a null {column}, which counts as empty"
        for column, count in (
            ("text", sum(row[1] is None for row in rows)),
            ("ocr", sum(row[2] is None for row in rows)),
        )
        if count
    ]
    return [Page(name, text or "", ocr or "") for name, text, ocr in rows], notes


def read_questions(path: Path) -> list[Question]:
    """All questions, without their answers.

    Raises:
        DataError: the file is damaged or of another schema, a question, its page's id or its ground truth is null or
            empty.
    """
    texts = ("id", "query", "type", "domain")
    rows = _rows(path, {**{name: [Kind.text] for name in texts}, "ground_truth": [Kind.whole_list]})
    faults = Faults(path, _SHOWN)
    questions = []
    for row, (page_id, text, kind, domain, gold) in enumerate(rows):
        found = [_id_fault(page_id), _gold_fault("ground_truth", gold), None if (text or "").strip() else "no query"]
        for why in filter(None, found):
            faults.add(f"row {row}: {why}")
        slices = {name: value for name, value in (("type", kind), ("domain", domain)) if value is not None}
        questions.append(Question(row, page_id or "", text or "", tuple(gold or ()), slices))
    faults.stop()
    return questions


def read_documents(path: Path) -> list[Document]:
    """All documents with their pages.

    Raises:
        DataError: the file is damaged or of another schema, an id or a list of pages is null or empty.
    """
    faults = Faults(path, _SHOWN)
    documents = []
    for row, (name, pages) in enumerate(_rows(path, {"file_id": [Kind.text], "page_indices": [Kind.whole_list]})):
        for why in filter(None, (_id_fault(name), _gold_fault("page_indices", pages))):
            faults.add(f"row {row}: {why}")
        documents.append(Document(row, name or "", tuple(pages or ())))
    faults.stop()
    return documents


def _rows(
    path: Path, read: Mapping[str, Sequence[Kind]], there: Mapping[str, Sequence[Kind]] | None = None
) -> list[tuple[Any, ...]]:
    """All rows of the columns that are read; further ones must be there only."""
    table = Table(path)
    table.check({**read, **(there or {})})
    if not table.rows:
        raise DataError(f"{path}: the table has no rows; wanted at least one")
    return table.read(list(read))


def _id_fault(name: str | None) -> str | None:
    if not name:
        return f"the id is {'null' if name is None else 'empty'}"
    return f"the id {shown(name)} holds a NUL character" if "\0" in name else None


def _gold_fault(column: str, rows: Sequence[int | None] | None) -> str | None:
    if not rows:
        return f"{column} is {'null' if rows is None else 'empty'}; wanted rows of the corpus"
    return f"{column} is {shown(rows)}; wanted whole numbers" if None in rows else None
