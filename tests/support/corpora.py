"""A folder dataset for tests, small and whole, every file of which a test may replace."""

from __future__ import annotations

from pathlib import Path

import pytest

from glyphrank.datasets.folder import Folder
from glyphrank.errors import DataError
from glyphrank.records import Task
from glyphrank.runtime import Runtime

CORPUS = '{"id": "a", "text": "apple"}\n{"id": "b", "text": "bread"}\n'
QUERIES = '{"id": "q", "text": "fruit"}\n{"id": "r", "text": "loaf"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq\ta\t1\nr\tb\t1\n"


class Corpus:
    """A dataset in a folder, every file of which a test may replace."""

    def __init__(self, root: Path, cache: Path) -> None:
        self.root = root
        self._runtime = Runtime("cpu", 1, 0, 60, 4, False, cache / "outputs", cache)
        root.mkdir()
        self.write(corpus=CORPUS, queries=QUERIES, qrels=QRELS)

    def write(self, corpus: str | None = None, queries: str | None = None, qrels: str | None = None) -> Corpus:
        for name, text in (("corpus.jsonl", corpus), ("queries.jsonl", queries), ("qrels.tsv", qrels)):
            if text is not None:
                (self.root / name).write_text(text, encoding="utf-8", newline="")
        return self

    def pages(self, *lines: str) -> Corpus:
        """Items a, b, ... with the given fields."""
        items = "abcdefgh"[: len(lines)]
        return self.write(corpus="".join(f'{{"id": "{i}", {line}}}\n' for i, line in zip(items, lines, strict=True)))

    def load(self, split: str = "test") -> Task:
        return Folder(self.root, split).load(self._runtime)

    def fault(self) -> str:
        with pytest.raises(DataError) as caught:
            self.load()
        return str(caught.value)
