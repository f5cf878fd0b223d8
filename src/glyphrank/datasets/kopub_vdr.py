"""SDS KoPub VDR as it was published: three parquet files of questions, pages and documents (arXiv:2511.04910)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from glyphrank.datasets.fingerprint import fingerprint
from glyphrank.datasets.hub import Published, find_files, is_file, one_file, place_of
from glyphrank.datasets.kopub_vdr_gold import check_documents, check_gold
from glyphrank.datasets.kopub_vdr_tables import (
    ANNOTATIONS,
    CORPUS,
    QUESTIONS,
    Page,
    Question,
    read_documents,
    read_pages,
    read_questions,
)
from glyphrank.datasets.parquet_tables import pictures
from glyphrank.datasets.roots import watched
from glyphrank.faults import Blocks
from glyphrank.identity import FileDigests, Location
from glyphrank.records import Item, Media, Query, Task
from glyphrank.runtime import Runtime

_NAMES = (QUESTIONS, CORPUS, ANNOTATIONS)
_SIZE = "21.9 GB"


@dataclass(frozen=True)
class KopubVdr:
    """Korean public documents: a question is asked for the page that answers it.

    Items are pages under their published ids, with picture, text layer (`text`) and the publisher's OCR (`ocr`); a null
    text counts as an empty one and is noted. Queries are `query-{row}`, with the slices `type` and `domain`; the answer
    is not read. Relevant are the rows of `ground_truth`.

    Attributes:
        root: folder with the three files, at its top or below it; None: the hub's cache, or the hub.
        repository: name on the hub.
        revision: commit of the repository.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ("pyarrow",)
    root: Location | None
    repository: str
    revision: str

    def __post_init__(self) -> None:
        Published(self.repository, self.revision)

    def files(self, runtime: Runtime) -> tuple[Path, ...] | None:
        """The three files at the top of their folder, else all places where they may lie; see `loading.ReadsFiles`."""
        folder = place_of(self.root, Published(self.repository, self.revision))
        if folder is None:
            return None
        top = tuple(folder / name for name in _NAMES)
        return top if all(map(is_file, top)) else watched(folder, lambda name: name in _NAMES)

    def load(self, runtime: Runtime) -> Task:
        """Queries, items and relevance, after the three statements of every gold page were compared.

        Raises:
            DataError: a file is missing, damaged or of another schema, an id, a question or its gold page is missing,
                ids are equal in NFC, or the statements contradict each other; the rows are named, of all files at once.
        """
        published = Published(self.repository, self.revision, _SIZE)
        folder = find_files(self.root, published, _NAMES, runtime)
        asked, corpus, annotated = (one_file(folder, name) for name in _NAMES)
        blocks = Blocks()
        with blocks.keep():
            questions = read_questions(asked)
        with blocks.keep():
            pages, notes = read_pages(corpus)
        with blocks.keep():
            documents = read_documents(annotated)
        blocks.stop()
        with blocks.keep():
            check_gold(asked, questions, pages, documents)
        with blocks.keep():
            notes += check_documents(annotated, documents, pages)
        blocks.stop()
        media = pictures(corpus, "image", folder, FileDigests(runtime.cache / "files"))
        return _task(questions, pages, media, notes)


def _task(questions: Sequence[Question], pages: Sequence[Page], media: Sequence[Media], notes: Sequence[str]) -> Task:
    items = tuple(
        Item(page.id, picture, page.text, published_ocr=page.ocr) for page, picture in zip(pages, media, strict=True)
    )
    queries = tuple(Query(f"query-{question.row}", question.text, question.slices) for question in questions)
    relevant = {
        query.id: {pages[row].id: 1.0 for row in question.gold}
        for query, question in zip(queries, questions, strict=True)
    }
    return Task("kopub_vdr", queries, items, relevant, fingerprint(queries, items, relevant), tuple(notes))
