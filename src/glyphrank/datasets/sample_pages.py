"""Pages to try things on: invented statistics of invented towns, in Korean and English, as real PDF documents."""

from __future__ import annotations

import importlib.util
import json
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

from glyphrank.datasets.folder import Folder
from glyphrank.datasets.sample_drawing import draw_document
from glyphrank.datasets.sample_english import ENGLISH
from glyphrank.datasets.sample_korean import KOREAN
from glyphrank.datasets.sample_text import Page, Question, documents, questions
from glyphrank.errors import DataError
from glyphrank.identity import FileDigest, FileDigests, digest_file, digest_json, recipe
from glyphrank.records import Runtime, Task

_LANGUAGES = (KOREAN, ENGLISH)
_MANIFEST = "manifest.json"
_STALE = 3600.0
"""Seconds after which a draft is taken for what a process that died has left."""
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

    def load(self, runtime: Runtime) -> Task:
        """The task of the drawn pages, which are drawn first where they are not there, or not whole.

        Raises:
            DataError: the packages of the extra `samples` are missing, or the folder cannot be written.
        """
        fonts = _fonts()
        folder = runtime.outputs / "samples" / f"pages-{_digest(self)}"
        files = FileDigests(runtime.cache / "files")
        if not _is_whole(folder, files):
            self._write(folder, fonts, files)
        return replace(Folder(folder, "test").load(runtime), name="sample_pages")

    def _write(self, folder: Path, fonts: Path, files: FileDigest) -> None:
        """Writes the folder beside its place and moves it there; whoever comes second throws the copy away."""
        draft = _aside(folder)
        try:
            draft.mkdir(parents=True)
            _write_files(draft, documents(_LANGUAGES, self.pages, self.seed), fonts)
            _write_questions(draft, questions(_LANGUAGES, self.pages, self.seed))
            _write_manifest(draft)
            _clear_drafts(folder.parent)
            if not _is_whole(folder, files):
                _set_aside(folder)
                draft.rename(folder)
        except OSError as error:
            if not _is_whole(folder, files):
                raise DataError(f"{folder}: cannot be written ({error.strerror or error}); check outputs") from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _is_whole(folder: Path, files: FileDigest) -> bool:
    """Whether every file that was written is there, as it was written."""
    try:
        written = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        return bool(written) and all(files(folder / name) == digest for name, digest in written.items())
    except (OSError, ValueError, AttributeError, TypeError, RecursionError, DataError):
        return False  # no folder, no manifest, or one that is damaged


def _write_manifest(folder: Path) -> None:
    """Digests of all files, written last."""
    written = {path.name: digest_file(path) for path in sorted(folder.iterdir())}
    (folder / _MANIFEST).write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.{uuid4().hex}")


def _set_aside(folder: Path) -> None:
    """Removes what stands in the place of a folder, in one step for whoever looks."""
    gone = _aside(folder)
    with suppress(FileNotFoundError):
        folder.rename(gone)
        if gone.is_dir():
            shutil.rmtree(gone, ignore_errors=True)
        else:
            gone.unlink()


def _clear_drafts(samples: Path) -> None:
    """Removes what processes left that died while they drew."""
    for draft in samples.glob(".pages-*"):
        with suppress(OSError):
            if time.time() - draft.stat().st_mtime > _STALE:
                shutil.rmtree(draft, ignore_errors=True)


def _fonts() -> Path:
    """The folder of fonts in koreanize-matplotlib, found without importing it (that would import matplotlib)."""
    found = importlib.util.find_spec("koreanize_matplotlib")
    if found is None or not found.submodule_search_locations or importlib.util.find_spec("reportlab") is None:
        raise DataError(
            "dataset=sample_pages draws its pages with reportlab and a font of koreanize-matplotlib, which are not "
            "installed; pip install 'glyphrank[samples]'"
        )
    return Path(found.submodule_search_locations[0]) / "fonts"


def _digest(component: SamplePages) -> str:
    """Digest of all that decides the files: fields, library versions, and the sources that write them."""
    sources = sorted(Path(__file__).parent.glob("sample_*.py"))
    return digest_json([recipe(component, digest_file), [digest_file(path) for path in sources]])[:16]


def _write_files(folder: Path, drawn: Sequence[Sequence[Page]], fonts: Path) -> None:
    lines: list[object] = []
    for number, pages in enumerate(drawn):
        name = _document(number)
        draw_document(folder / f"{name}.pdf", pages, fonts, number)
        lines += [
            {"id": f"{name}_{page.number}", "media": f"{name}.pdf", "page": page.number, "language": page.language}
            for page in pages
        ]
    _write_lines(folder / "corpus.jsonl", lines)


def _write_questions(folder: Path, asked: Sequence[Question]) -> None:
    names = [f"q{number:02}" for number in range(1, len(asked) + 1)]
    _write_lines(
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


def _write_lines(path: Path, lines: Sequence[object]) -> None:
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


def _document(number: int) -> str:
    """The name of a document; its parity tells the language."""
    return f"report{number + 1}"
