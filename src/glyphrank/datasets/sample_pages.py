"""Pages to try things on: invented statistics of invented towns, in Korean and English, as real PDF documents."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from glyphrank.datasets.folder import Folder
from glyphrank.datasets.generated import digest_of, made_once, write_lines
from glyphrank.datasets.roots import watched
from glyphrank.datasets.sample_drawing import draw_document
from glyphrank.datasets.sample_english import ENGLISH
from glyphrank.datasets.sample_korean import KOREAN
from glyphrank.datasets.sample_text import Page, Question, documents, questions
from glyphrank.errors import DataError
from glyphrank.identity import FileDigests
from glyphrank.records import Task
from glyphrank.runtime import Runtime

_LANGUAGES = (KOREAN, ENGLISH)
_SOURCES = ("sample_pages", "sample_drawing", "sample_english", "sample_korean", "sample_text")
"""Modules that decide the files."""
_MOST = sum(len(language.topics) * len(language.places) for language in _LANGUAGES)


@dataclass(frozen=True)
class SamplePages:
    """Generated pages with a table and a chart each, and queries with the slices `language` and `type`.

    The pages are drawn once, in the folder layout, under `outputs/samples/`; equal fields, library versions and
    sources give equal files. A folder that has lost a file, or in which one was changed, is drawn anew.

    Attributes:
        pages: how many pages, 1 to 48; six make a document, and documents take Korean and English in turn.
        seed: decides the figures.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ("koreanize-matplotlib", "reportlab")
    pages: int
    seed: int

    def __post_init__(self) -> None:
        if not 1 <= self.pages <= _MOST:
            raise ValueError(f"pages is {self.pages}; wanted 1 to {_MOST}")

    def files(self, runtime: Runtime) -> tuple[Path, ...]:
        """All that was drawn, and the folder; see `loading.ReadsFiles`."""
        return watched(self._folder(runtime), lambda name: True)

    def load(self, runtime: Runtime) -> Task:
        """The task of the drawn pages, which are drawn first where they are not there, or not whole.

        Raises:
            DataError: the packages of the extra `samples` are missing, or the folder cannot be written.
        """
        fonts = _fonts()
        folder = made_once(
            self._folder(runtime),
            lambda draft: self._fill(draft, fonts),
            FileDigests(runtime.cache / "files"),
        )
        return replace(Folder(folder, "test").load(runtime), name="sample_pages")

    def _folder(self, runtime: Runtime) -> Path:
        sources = [Path(__file__).with_name(f"{name}.py") for name in _SOURCES]
        return runtime.outputs / "samples" / f"pages-{digest_of(self, sources)}"

    def _fill(self, folder: Path, fonts: Path) -> None:
        _write_files(folder, documents(_LANGUAGES, self.pages, self.seed), fonts)
        _write_questions(folder, questions(_LANGUAGES, self.pages, self.seed))


def _fonts() -> Path:
    """The folder of fonts in koreanize-matplotlib, found without importing it (that would import matplotlib)."""
    found = importlib.util.find_spec("koreanize_matplotlib")
    if found is None or not found.submodule_search_locations or importlib.util.find_spec("reportlab") is None:
        raise DataError(
            "dataset=sample_pages draws its pages with reportlab and a font of koreanize-matplotlib, which are not "
            "installed; pip install 'glyphrank[samples]'"
        )
    return Path(found.submodule_search_locations[0]) / "fonts"


def _write_files(folder: Path, drawn: Sequence[Sequence[Page]], fonts: Path) -> None:
    lines: list[object] = []
    for number, pages in enumerate(drawn):
        name = _document(number)
        draw_document(folder / f"{name}.pdf", pages, fonts, number)
        lines += [
            {"id": f"{name}_{page.number}", "media": f"{name}.pdf", "page": page.number, "language": page.language}
            for page in pages
        ]
    write_lines(folder / "corpus.jsonl", lines)


def _write_questions(folder: Path, asked: Sequence[Question]) -> None:
    names = [f"q{number:02}" for number in range(1, len(asked) + 1)]
    write_lines(
        folder / "queries.jsonl",
        [
            {"id": name, "text": question.text, "language": question.language, "type": question.type}
            for name, question in zip(names, asked, strict=True)
        ],
    )
    rows = [
        f"{name}\t{_document(document)}_{page}\t{gain}\n"
        for name, question in zip(names, asked, strict=True)
        for (document, page), gain in question.gains.items()
    ]
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows), encoding="utf-8")


def _document(number: int) -> str:
    """The name of a document; its parity tells the language."""
    return f"report{number + 1}"
