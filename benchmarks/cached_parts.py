"""What `cached_cell.py` puts into a sweep: a corpus, an encoder that costs nothing, and a clock round the cells."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from hydra.experimental.callback import Callback

from glyphrank.records import Encoded
from glyphrank.runtime import Runtime

WIDTH = 512
TYPES, DOMAINS = ("text", "visual", "cross"), ("society", "economy", "environment", "health", "culture", "law")
WORDS_A_TEXT, WORDS = 120, 20_000

began: list[float] = []
"""When each cell of this process began, in seconds."""


class Clock(Callback):
    """Notes when cells begin; from one beginning to the next is all that a cell costs."""

    def on_job_start(self, config: Any, **kwargs: Any) -> None:
        """Notes a beginning."""
        began.append(time.perf_counter())


@dataclass(frozen=True)
class Numbered:
    """The vector of a text is drawn from the number that it begins with; one query's is near its page's."""

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ("numpy",)
    spread: float

    def encode_queries(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        """Near the vectors of the texts with the same numbers."""
        values = self.encode_texts(texts, runtime).values
        noise = np.random.default_rng(len(texts)).standard_normal(values.shape, dtype=np.float32)
        return Encoded(values + self.spread * noise, np.zeros(len(texts), dtype=bool))

    def encode_texts(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        """One draw a text."""
        numbers = [int(text.split(maxsplit=1)[0]) for text in texts]
        values = [np.random.default_rng(number).standard_normal(WIDTH, dtype=np.float32) for number in numbers]
        return Encoded(np.array(values), np.zeros(len(texts), dtype=bool))


def write_corpus(folder: Path, queries: int, items: int) -> None:
    """A corpus in the layout of `dataset=folder`: pages of 120 words, and queries with two slices as in SDS KoPub."""
    folder.mkdir(parents=True)
    generator = np.random.default_rng(7)
    ranks = generator.zipf(1.2, (items, WORDS_A_TEXT)) % WORDS
    pages = [
        {"id": f"document {row // 100}_{row % 100}", "text": f"{row} " + " ".join(f"word{rank}" for rank in ranks[row])}
        for row in range(items)
    ]
    golds = generator.choice(items, queries, replace=False).tolist()
    asked = [
        {
            "id": f"query-{number}",
            "text": f"{gold} what is said of it?",
            "type": TYPES[number % len(TYPES)],
            "domain": DOMAINS[number % len(DOMAINS)],
        }
        for number, gold in enumerate(golds)
    ]
    for name, rows in (("corpus", pages), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [f"query-{number}\t{pages[gold]['id']}\t1" for number, gold in enumerate(golds)]
    (folder / "qrels.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *lines]) + "\n")


def write_choice(folder: Path) -> None:
    """`encoder@text=numbered` for `--config-dir`."""
    (folder / "encoder").mkdir(parents=True)
    (folder / "encoder" / "numbered.yaml").write_text("_target_: cached_parts.Numbered\nspread: 4.0\n")
